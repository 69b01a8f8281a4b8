"""What the supervisor tells of its processes reaches pages, probes and metrics, and users are left in peace."""

from __future__ import annotations

import os
from datetime import datetime, tzinfo
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory

from gridportal.accounts.models import User
from gridportal.accounts.services import ensure_demo_people
from gridportal.serve import page_frame as context
from gridportal.serve import parts
from gridportal.serve.parts import Part, Report, State
from tests.markup import markup

UP = Part("web", State.UP, 10)
AGAIN = Part("worker", State.UP, 11, restarts=2, restarted=42.0)
DOWN = Part("broker", State.DOWN, 0, restarts=3, due=4.0)
SLOW = Part("beat", State.SLOW, 12, silent=17.0)
STOPPED = Part("database", State.STOPPED, 13)


class Clock(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime(2026, 5, 4, 14, 3, 25, tzinfo=tz)


@pytest.fixture(autouse=True)
def monotonic(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Both clocks stand still; a test moves the monotonic one on."""
    now = [1000.0]
    monkeypatch.setattr(parts, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(parts, "datetime", Clock)
    return now


@pytest.fixture
def home(tmp_path: Path, settings) -> Path:
    settings.PORTAL = settings.PORTAL.model_copy(update={"home": tmp_path})
    return tmp_path


def test_what_is_written_is_read_until_it_is_old(tmp_path: Path, monotonic: list[float]) -> None:
    assert parts.read(tmp_path) is None
    Report(tmp_path).write([UP, AGAIN, DOWN, SLOW, STOPPED])
    assert parts.read(tmp_path) == [UP, AGAIN, DOWN, SLOW, STOPPED]
    assert (tmp_path / "parts.json").stat().st_mode & 0o777 == 0o600
    monotonic[0] += 60
    assert parts.read(tmp_path) is None, "its supervisor is gone"
    monotonic[0] -= 120
    assert parts.read(tmp_path) is None, "it is of before the machine was started"


def test_times_go_on_after_they_were_written(tmp_path: Path, monotonic: list[float]) -> None:
    Report(tmp_path).write([UP, AGAIN, DOWN, SLOW])
    monotonic[0] += 3
    up, again, down, slow = parts.read(tmp_path) or ()
    assert (up, again.restarted, down.due, slow.silent) == (UP, 45.0, 1.0, 20.0)
    monotonic[0] += 3
    assert [part.due for part in parts.read(tmp_path) or ()] == [None, None, 0.0, None]


def test_the_file_keeps_its_size_so_that_a_full_disk_does_not_matter(tmp_path: Path) -> None:
    report = Report(tmp_path)
    report.write([UP])
    about = report.path.stat()
    report.write([UP, AGAIN, DOWN, SLOW, STOPPED] * 4)
    assert report.path.stat().st_size == about.st_size
    assert report.path.stat().st_ino == about.st_ino


@pytest.mark.parametrize("left", ["", "{}", "[]", '{"at": 1, "parts": [{}]}', '{"at": "x", "parts": []}', "\0\0"])
def test_a_file_that_is_broken_tells_nothing(tmp_path: Path, left: str) -> None:
    (tmp_path / "parts.json").write_text(left)
    assert parts.read(tmp_path) is None


def test_each_state_has_a_sentence() -> None:
    assert UP.sentence == "The web server is up."
    assert AGAIN.sentence == "The worker is up; it was started again 2 times, the last time 42 s ago."
    assert DOWN.sentence == "The broker ended and is started again at 14:03:29."
    assert SLOW.sentence == "The scheduler (beat) is slow: no progress for 17 s."
    assert STOPPED.sentence == "The database is stopped by a signal; kill -CONT 13 lets it go on."
    assert [part.is_worth_telling for part in (UP, AGAIN, DOWN, SLOW, STOPPED)] == [False, True, True, True, True]


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "seen"), [("user", False), ("operator", True), ("administrator", True)])
def test_those_who_run_the_portal_see_it_on_every_page_and_users_do_not(home: Path, role: str, seen: bool) -> None:
    list(ensure_demo_people())
    Report(home).write([UP, DOWN])
    client = Client()
    client.force_login(next(user for user in User.objects.all() if user.role == role))
    page = markup(client.get("/jobs/"))
    assert ("The broker ended and is started again at 14:03:29." in page) == seen
    assert "The web server is up" not in page


@pytest.mark.django_db
@pytest.mark.parametrize(("told", "first", "risk"), [([AGAIN, SLOW, DOWN], DOWN, True), ([AGAIN, SLOW], SLOW, False)])
def test_what_is_down_stands_first_and_what_is_up_again_last(
    home: Path, told: list[Part], first: Part, risk: bool
) -> None:
    list(ensure_demo_people())
    Report(home).write(told)
    client = Client()
    client.force_login(next(user for user in User.objects.all() if user.role == "operator"))
    page = markup(client.get("/jobs/"))
    places = [page.index(part.sentence) for part in (first, SLOW, AGAIN)]
    assert places == sorted(places)
    assert ('<div class="says risk" role="status">' in page) is risk


def test_a_page_for_nobody_tells_nothing(home: Path) -> None:
    Report(home).write([DOWN])
    request = RequestFactory().get("/sign-in/")
    request.user, request.resolver_match = AnonymousUser(), None
    assert not context.shell(request)["troubled_parts"]


@pytest.mark.django_db
def test_probes_and_metrics_tell_of_it(home: Path) -> None:
    Report(home).write([UP, DOWN, SLOW])
    told = Client().get("/readyz").json()
    assert told["processes"] == DOWN.sentence
    assert told["slow"] == [SLOW.sentence]
    metrics = markup(Client().get("/metrics"))
    assert 'gridportal_process_up{process="broker"} 0.0' in metrics
    assert 'gridportal_process_up{process="beat"} 1.0' in metrics
    assert 'gridportal_process_restarts_total{process="broker"} 3.0' in metrics
    assert 'gridportal_process_silent_seconds{process="beat"} 17.0' in metrics


def test_a_report_that_cannot_be_written_ends_nothing_and_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from rich.console import Console

    from gridportal.base.portal_settings import PortalSettings
    from gridportal.serve.portal_set import PortalSet

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    with Path(os.devnull).open("w") as nowhere:
        portal = PortalSet(PortalSettings(home=tmp_path), Console(file=nowhere))
        monkeypatch.setattr(portal.report, "write", refuse)
        for _ in range(3):
            portal.look()
            portal._reported_at = 0.0  # as if some seconds had gone by
    assert [record.message for record in caplog.records].count(
        "How the processes are cannot be written: [Errno 30] Read-only file system"
    ) == 1
