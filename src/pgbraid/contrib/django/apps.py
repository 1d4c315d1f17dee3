"""The app: its label is `pgbraid`, its checks are registered, and settings that tests override are read anew."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.core.signals import setting_changed

from pgbraid.contrib.django import checks
from pgbraid.contrib.django.doors import forget
from pgbraid.contrib.options import NAME


class PgbraidConfig(AppConfig):
    """pgbraid as an app of a site."""

    name = "pgbraid.contrib.django"
    label = "pgbraid"
    verbose_name = "Knowledge bases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the checks."""
        register(checks.check_settings)
        register(checks.check_database, Tags.database)
        setting_changed.connect(_forget, dispatch_uid="pgbraid")


def _forget(*, setting: str, **_: Any) -> None:
    if setting in {NAME, "DATABASES"}:
        forget()
