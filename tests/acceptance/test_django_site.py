"""A site as its author makes it: startproject, the app, migrate, documents, a question, and the site's own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

SETTINGS = """
INSTALLED_APPS += ["pgbraid.contrib.django", "pages"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", **DATABASE}}
ROOT_URLCONF = "pages.urls"
"""
URLS = """
from django.http import JsonResponse
from django.urls import path
from pgbraid.contrib.django import braid

def search(request):
    return JsonResponse({"found": [p.external_id for p in braid().search(request.GET["q"]).passages]})

urlpatterns = [path("search/", search)]
"""
MODELS = """
from django.db import models

class Page(models.Model):
    text = models.TextField()
"""
TESTS = """
from django.db import transaction
from django.test import TestCase
from pages.models import Page
from pgbraid import CollectionSpec, Document, EmbedderRecord
from pgbraid.contrib.django import braid

class SearchTest(TestCase):
    @classmethod
    def setUpTestData(cls):
        braid().add_embedder(EmbedderRecord("h", "hashing", "words", 64))
        braid().create_collection(CollectionSpec("notes", "h"))

    def save(self, text):
        page = Page.objects.create(text=text)
        braid().ingest("notes", [Document(str(page.pk), text)])
        return str(page.pk)

    def found(self, question):
        return self.client.get("/search/", {"q": question}).json()["found"]

    def test_a_page_is_found_by_the_view(self):
        self.assertEqual(self.found("umbrellas"), [])
        key = self.save("Umbrellas are lent.")
        self.assertEqual(self.found("umbrellas"), [key])

    def test_what_another_test_wrote_is_gone(self):
        self.assertEqual(braid().collection("notes").documents, 0)
        key = self.save("Umbrellas are lent at the reception.")
        self.assertEqual(self.found("umbrellas"), [key])
        with self.assertRaises(ValueError), transaction.atomic():
            self.save("Bicycles are lent as well.")
            raise ValueError
        self.assertEqual(self.found("bicycles"), [key])
        self.assertEqual(Page.objects.count(), 1)
"""
DECLARED = {
    "embedders": {"h": {"kind": "hashing", "model": "words", "dimensions": 64}},
    "collections": {"hr": {"embedder": "h"}},
}
Manage = Callable[..., str]


@pytest.fixture
def manage(tmp_path: Path, empty_database: str) -> Manage:
    """`manage("migrate")`: what manage.py of a fresh project prints, on a database that nobody has touched."""

    def run(*words: str) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr * (words[1] in ("check", "test"))

    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PGBRAID_", "DJANGO_"))}
    run("-m", "django", "startproject", "shop", ".")
    parts = conninfo_to_dict(empty_database)
    database = {key.upper(): str(parts[key]) for key in ("user", "password", "host", "port") if key in parts}
    settings = tmp_path / "shop" / "settings.py"
    given = {"NAME": parts["dbname"], **database}
    settings.write_text(settings.read_text() + f"\nDATABASE = {given!r}\n" + SETTINGS)
    for name, text in (("__init__", ""), ("urls", URLS), ("models", MODELS), ("tests", TESTS)):
        (tmp_path / "pages").mkdir(exist_ok=True)
        (tmp_path / "pages" / f"{name}.py").write_text(text)
    run("manage.py", "makemigrations", "pages")
    return lambda *words: run("manage.py", *words)


def test_a_fresh_site_is_migrated_filled_and_asked(manage: Manage, tmp_path: Path) -> None:
    assert "pgbraid.W001" in manage("check", "--database", "default")
    manage("migrate")
    assert "no issues" in manage("check", "--database", "default", "--fail-level", "WARNING")
    (tmp_path / "pgbraid.yaml").write_text(json.dumps(DECLARED))
    (tmp_path / "leave.md").write_text("# Leave\n\nUp to five days of leave may be carried over.\n")
    manage("pgbraid", "apply", "pgbraid.yaml")
    manage("pgbraid", "ingest", "hr", "leave.md")
    found = json.loads(manage("pgbraid", "search", "days of leave", "--json", "--settings", "shop.settings"))
    assert [p["external_id"] for p in found["passages"]] == ["leave.md"]
    assert "Usage: manage.py pgbraid search" in manage("pgbraid", "search", "--help")


def test_the_sites_own_tests_run_on_a_database_that_django_makes(manage: Manage) -> None:
    assert "Ran 2 tests" in manage("test")
