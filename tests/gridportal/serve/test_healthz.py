"""The health check."""

from __future__ import annotations

import pytest
from django.test import Client

from gridportal.serve.views import healthz


@pytest.mark.django_db
def test_a_working_portal_says_so_to_strangers():
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "database": True, "broker": True})


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["database", "broker"])
def test_a_broken_part_is_named_with_503(monkeypatch, part):
    monkeypatch.setattr(healthz, f"_{part}", lambda: False)
    answer = Client().get("/healthz")
    assert answer.status_code == 503
    assert answer.json()[part] is False


@pytest.mark.django_db
def test_a_broker_that_refuses_is_found(monkeypatch):
    def refuse(**_: object) -> object:
        raise OSError("refused")

    monkeypatch.setattr(healthz.app, "connection_for_write", refuse)
    assert Client().get("/healthz").json() == {"ok": False, "database": True, "broker": False}
