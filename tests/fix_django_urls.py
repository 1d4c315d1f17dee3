"""The pages of the site that the tests set up: a search, sync and async, and an upload that fails at its end."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path

from pgbraid import Document
from pgbraid.contrib.django import async_braid, braid, search_async


def _said(result: Any) -> JsonResponse:
    return JsonResponse({"status": result.status, "ids": [p.external_id for p in result.passages]})


def search(request: HttpRequest) -> JsonResponse:
    return _said(braid().search(request.GET["q"]))


async def search_later(request: HttpRequest) -> JsonResponse:
    return _said(await search_async(request.GET["q"]))


async def search_apart(request: HttpRequest) -> JsonResponse:
    async with async_braid() as opened:
        return _said(await opened.search(request.GET["q"]))


@transaction.atomic
def upload(request: HttpRequest) -> JsonResponse:
    braid().ingest("notes", [Document("uploaded", "Umbrellas are lent at the reception.")])
    found = _said(braid().search("umbrellas"))
    if "fail" in request.GET:
        raise ValueError("the view fails after its ingest")
    return found


urlpatterns = [
    path("search/", search),
    path("search-later/", search_later),
    path("search-apart/", search_apart),
    path("upload/", upload),
]
