"""Requests that waited too long for a thread are refused by rule, and probes are answered all the same."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from gridportal.web import request_wait, worker_load
from monitoring import tasks

pytestmark = pytest.mark.django_db


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each request had waited for half a minute."""
    monkeypatch.setattr(request_wait, "of_this_request", lambda: 30.0)


def test_a_page_is_refused_with_a_page(waited: None) -> None:
    answer = Client().get("/jobs/")
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "5", "no-store")
    assert "The portal is busy" in answer.content.decode()


def test_a_call_is_refused_in_json(waited: None) -> None:
    answer = Client().get("/api/jobs")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "try again in 5 seconds" in answer.json()["detail"]


@pytest.mark.parametrize("address", ["/healthz", "/metrics"])
def test_probes_are_answered(waited: None, address: str) -> None:
    assert Client().get(address).status_code == 200


def test_one_that_waited_a_little_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_wait, "of_this_request", lambda: 3.0)
    assert Client().get("/sign-in/").status_code == 200


def test_the_longest_wait_of_the_last_minute_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_wait, "_longest", (0.0, 0.0))
    request_wait.note(7.0, 1000.0)
    request_wait.note(1.0, 1030.0)
    assert request_wait.longest(1040.0) == 7.0
    request_wait.note(2.0, 1070.0)
    assert request_wait.longest(1080.0) == 2.0
    assert request_wait.longest(2000.0) == 0.0
    assert request_wait.of_this_request() == 2.0


def test_readyz_tells_of_long_waits_and_stays_as_ready_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Client().get("/readyz").json()["ok"]
    monkeypatch.setattr(request_wait, "_longest", (12.0, time.monotonic()))
    told = Client().get("/readyz").json()
    assert told["slow"] == ["A request waited 12 s for a thread of the web server within the last minute."]
    assert told["ok"] == before


@pytest.mark.parametrize("is_behind", [True, False])
def test_a_worker_that_is_behind_leaves_an_idle_network_for_later(
    monkeypatch: pytest.MonkeyPatch, is_behind: bool
) -> None:
    measured: list[str] = []
    monkeypatch.setattr(worker_load, "is_behind", lambda: is_behind)
    monkeypatch.setattr(tasks, "_measure", lambda name, max_age: measured.append(name))
    tasks.measure_network("grid")
    assert measured == ([] if is_behind else ["grid"])
    tasks.measure_network("grid", 0)
    assert measured[-1:] == ["grid"], "somebody asked for it"
