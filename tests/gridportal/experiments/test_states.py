"""The life of an experiment: every step that its table allows, none other, and one winner where two want different."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import InputError
from gridportal.base.reasons import Code, Reason
from gridportal.experiments import exclusive, selectors
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import Plan
from gridportal.experiments.services import child as children
from gridportal.experiments.services import requests, tending
from gridportal.experiments.states import AT_WORK, LIFE, OVER, ExperimentState
from scheduling.jobs.services.advance import advance

pytestmark = pytest.mark.django_db
STATES = list(ExperimentState)


@pytest.fixture
def row(tmp_path: Path, settings: Any) -> Experiment:
    """One that waits, in a portal's home of its own."""
    settings.PORTAL = settings.PORTAL.model_copy(update={"home": tmp_path})
    folder = selectors.base() / "telemetry-1"
    return Experiment.objects.create(name="telemetry", folder=str(folder))


def put(row: Experiment, state: ExperimentState, **fields: Any) -> Experiment:
    """The row in that state, as another process reads it."""
    Experiment.objects.filter(pk=row.pk).update(state=state.value, **fields)
    return Experiment.objects.get(pk=row.pk)


@pytest.mark.parametrize(("now", "then"), list(itertools.product(STATES, STATES)))
def test_a_step_is_taken_where_the_table_allows_it(
    row: Experiment, now: ExperimentState, then: ExperimentState
) -> None:
    row = put(row, now)
    assert advance(row, then) == LIFE.may_follow(now, then)
    row.refresh_from_db()
    assert row.state == (then if LIFE.may_follow(now, then) else now)


@pytest.mark.parametrize(("now", "then"), [(now, then) for now in STATES for then in sorted(LIFE.steps[now])])
def test_a_step_writes_its_times_and_frees_what_no_machine_has_any_more(
    row: Experiment, now: ExperimentState, then: ExperimentState
) -> None:
    row = put(row, now, running_holder="here", running_until=timezone.now(), now="cpu/1", ended_at=timezone.now())
    assert advance(row, then)
    row.refresh_from_db()
    assert (row.running_holder == "here") == (then in AT_WORK)
    assert (row.running_until is not None) == (then in AT_WORK)
    assert (row.ended_at is not None) == (then in OVER)
    assert row.now == ("" if then in OVER else "cpu/1")
    assert (row.started_at is not None) == (then == ExperimentState.RUNNING)


@pytest.mark.parametrize(("now", "then"), [(now, then) for now in STATES for then in sorted(LIFE.steps[now])])
def test_who_has_read_an_earlier_state_changes_nothing(
    row: Experiment, now: ExperimentState, then: ExperimentState
) -> None:
    stale = put(row, now)
    for other in set(STATES) - {now}:
        put(row, other)
        assert not advance(stale, then)
        assert (stale.state, Experiment.objects.get().state) == (now, other)


def test_no_row_has_another_state(row: Experiment) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Experiment.objects.update(state="lost")


def test_of_two_who_cancel_and_resume_the_second_is_told_what_it_is(row: Experiment, people: Any) -> None:
    requests.cancel(people["operator"], row)
    with pytest.raises(InputError, match="this one is stopped"):
        requests.cancel(people["operator"], row)
    requests.resume(people["operator"], Experiment.objects.get())
    with pytest.raises(InputError, match="this one is queued"):
        requests.resume(people["operator"], row)
    assert AuditEvent.objects.filter(action__startswith="experiment").count() == 2


def test_a_cancel_of_what_has_started_meanwhile_asks_it_to_end(row: Experiment, people: Any) -> None:
    Path(row.folder).mkdir(parents=True)
    put(row, ExperimentState.RUNNING)
    assert requests.cancel(people["operator"], row).state == ExperimentState.STOPPING
    assert (Path(row.folder) / "stop").exists()


def test_a_cancel_of_what_has_ended_meanwhile_is_refused_and_not_written_down(row: Experiment, people: Any) -> None:
    stale = put(row, ExperimentState.RUNNING)
    put(row, ExperimentState.DONE)
    with pytest.raises(InputError, match="this one is done"):
        requests.cancel(people["operator"], stale)
    assert not AuditEvent.objects.filter(action="experiment.cancel").exists()


def test_one_that_is_cancelled_as_it_is_about_to_start_does_not(
    row: Experiment, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire, started = exclusive.acquire, []

    def cancelled_meanwhile(base: Path, folder: Path) -> int | None:
        requests.cancel(people["operator"], Experiment.objects.get())
        return acquire(base, folder)

    monkeypatch.setattr(exclusive, "acquire", cancelled_meanwhile)
    monkeypatch.setattr(children, "start", lambda *asked: started.append(asked))
    tending.tend()
    assert (Experiment.objects.get().state, started) == (ExperimentState.STOPPED, [])
    assert exclusive.running(selectors.base()) is None


def test_a_worker_that_is_killed_as_it_starts_one_leaves_it_to_the_next(
    row: Experiment, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(plan: Plan, folder: Path, lock: int) -> None:
        raise KeyboardInterrupt

    put(row, ExperimentState.QUEUED, started_by=people["operator"])
    monkeypatch.setattr(children, "start", die)
    with pytest.raises(KeyboardInterrupt):
        tending.tend()
    assert Experiment.objects.get().state == ExperimentState.RUNNING
    monkeypatch.setattr(tending, "_start_next", lambda: None)
    tending.tend()
    row.refresh_from_db()
    assert (row.state, row.restarts) == (ExperimentState.QUEUED, 1)


def test_one_that_cannot_be_started_has_failed_with_the_reason(
    row: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(plan: Plan, folder: Path, lock: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(children, "start", refuse)
    tending.tend()
    row.refresh_from_db()
    assert row.state == ExperimentState.FAILED
    assert row.reason == Reason.of(Code.EXPERIMENT_NOT_STARTED, error="[Errno 28] No space left on device")


def test_one_whose_folder_cannot_be_made_has_failed_and_holds_up_no_other(
    row: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    selectors.base().mkdir(parents=True)
    Path(row.folder).touch()
    tending.tend()
    row.refresh_from_db()
    assert (row.state, row.reason.code) == (ExperimentState.FAILED, Code.EXPERIMENT_NOT_STARTED)


def on_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tending.socket, "gethostname", lambda: name)


def test_what_another_machine_runs_is_left_to_it_until_it_is_silent(
    row: Experiment, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    selectors.base().mkdir(parents=True)
    soon = timezone.now() + timedelta(seconds=30)
    put(row, ExperimentState.RUNNING, running_holder="there", running_until=soon, started_by=people["operator"])
    on_machine("here", monkeypatch)
    tending.tend()
    row.refresh_from_db()
    assert (row.state, row.running_holder, row.restarts) == (ExperimentState.RUNNING, "there", 0)

    put(row, ExperimentState.RUNNING, running_until=timezone.now())
    monkeypatch.setattr(tending, "_start_next", lambda: None)
    tending.tend()
    row.refresh_from_db()
    assert (row.state, row.running_holder, row.restarts) == (ExperimentState.QUEUED, "", 1)


def test_a_machine_whose_clock_was_ahead_keeps_no_other_out(
    row: Experiment, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    selectors.base().mkdir(parents=True)
    ahead = timezone.now() + timedelta(hours=1)
    put(row, ExperimentState.RUNNING, running_holder="there", running_until=ahead, started_by=people["operator"])
    on_machine("here", monkeypatch)
    monkeypatch.setattr(tending, "_start_next", lambda: None)
    tending.tend()
    row.refresh_from_db()
    assert row.state == ExperimentState.QUEUED


def test_of_two_machines_one_starts_it(row: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    acquire, started = exclusive.acquire, []

    def another_was_faster(base: Path, folder: Path) -> int | None:
        later = timezone.now() + timedelta(seconds=60)
        put(row, ExperimentState.RUNNING, running_holder="there", running_until=later)
        return acquire(base, folder)

    on_machine("here", monkeypatch)
    monkeypatch.setattr(exclusive, "acquire", another_was_faster)
    monkeypatch.setattr(children, "start", lambda *asked: started.append(asked))
    tending.tend()
    row.refresh_from_db()
    assert (row.state, row.running_holder, started) == (ExperimentState.RUNNING, "there", [])
