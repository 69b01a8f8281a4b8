"""Experiments beside the portal: one at a time, stopped, resumed, taken up after a crash, adopted from the shell."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.db.models import QuerySet
from django.test import override_settings

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import InputError
from gridportal.experiments import exclusive, record, selectors
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import Plan
from gridportal.experiments.services import child as children
from gridportal.experiments.services import requests, tending
from gridportal.experiments.states import ExperimentState
from scheduling.messages import message
from tests.gridportal.experiments import recorded
from tests.gridportal.testbed.conftest import eventually

pytestmark = pytest.mark.django_db
QUEUED, RUNNING, STOPPING, STOPPED, DONE, FAILED = ExperimentState


@pytest.fixture
def home(tmp_path, settings):
    """A portal's home of its own."""
    with override_settings(PORTAL=settings.PORTAL.model_copy(update={"home": tmp_path})):
        yield tmp_path


@pytest.fixture
def child(monkeypatch):
    """In place of the command: a process that only holds the lock, until it is ended."""
    started = []

    def start(plan, folder, lock):
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[lock])
        started.append(process)
        return process

    monkeypatch.setattr(children, "start", start)
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def row(home, people, child):
    """One that runs."""
    found = requests.start(people["operator"], Plan("telemetry", 1))
    tending.tend()
    found.refresh_from_db()
    return found


def state(row):
    row.refresh_from_db()
    return row.state


def end(process):
    process.kill()
    process.wait()


def test_it_is_started_once_and_its_progress_is_followed(row, child):
    recorded.keep("telemetry", Path(row.folder), complete=False)
    record.Record(Path(row.folder), {"name": "telemetry", "seed": 1, "full": False}).write_progress(3, 50, "cpu/x", 1.0)
    tending.tend()
    tending.tend()

    assert len(child) == 1
    assert state(row) == RUNNING
    assert (row.done, row.of, row.now) == (3, 50, "cpu/x")
    assert row.result["cpu"]["n"] == 10
    assert row.running_holder == socket.gethostname()


def test_a_second_one_waits_until_the_first_has_ended(row, child, people):
    second = requests.start(people["operator"], Plan("skeletons", 1))
    tending.tend()
    assert state(second) == QUEUED

    recorded.keep("telemetry", Path(row.folder))
    end(child[0])
    tending.tend()
    tending.tend()

    assert (state(row), state(second)) == (DONE, RUNNING)
    assert row.result["complete"] is True


def test_cancel_asks_for_the_end_and_resume_goes_on_in_the_same_folder(row, child, people):
    folder = Path(row.folder)
    requests.cancel(people["operator"], row)
    assert state(row) == STOPPING
    assert (folder / "stop").exists()

    end(child[0])
    tending.tend()
    assert state(row) == STOPPED
    requests.resume(people["operator"], row)
    tending.tend()

    assert state(row) == RUNNING
    assert len(child) == 2
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {
        "experiment.start",
        "experiment.cancel",
        "experiment.resume",
    }


def test_a_stop_that_a_beginning_child_has_forgotten_is_wanted_again(row, people):
    requests.cancel(people["operator"], row)
    (Path(row.folder) / "stop").unlink()

    tending.tend()

    assert (Path(row.folder) / "stop").exists()


def test_one_that_was_killed_is_taken_up_again_and_given_up_after_the_third_time(row, child):
    for times in range(1, 4):
        end(child[-1])
        eventually(lambda: exclusive.running(selectors.base()) is None, "the lock to be free")
        tending.tend()
        tending.tend()
        assert (state(row), row.restarts) == (RUNNING, times)
    end(child[-1])
    tending.tend()

    assert state(row) == FAILED
    assert message(row.reason) == "Its process ended without a message."


def test_one_that_says_why_it_cannot_run_is_not_tried_again(home, people, monkeypatch):
    def fail(plan, folder, lock):
        (folder / "experiment.log").write_text("warming up\nThe Grid could not be built: no tc.\n")
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])

    monkeypatch.setattr(children, "start", fail)
    found = requests.start(people["operator"], Plan("telemetry", 1))
    tending.tend()
    tending.tend()

    assert state(found) == FAILED
    assert message(found.reason) == "The Grid could not be built: no tc."
    assert found.reason.facts["exit_code"] == 1


def test_what_ran_from_the_command_line_is_listed_with_its_result(home):
    recorded.keep("slowdown", home / "experiments" / "slowdown-1")
    tending.tend()

    found = Experiment.objects.get()
    assert (found.name, found.state, found.started_by) == ("slowdown", DONE, None)
    assert found.result["programs"]["cg"]["pattern"]["n"] == 4


@pytest.mark.parametrize(
    "plan", ["{", "[]", '{"name": "slowdown"}', '{"name": "slowdown", "seed": 99999999999999999999, "full": true}']
)
def test_a_folder_with_no_plan_in_it_holds_up_no_other(home, plan):
    folder = home / "experiments" / "broken"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(plan)
    recorded.keep("slowdown", home / "experiments" / "slowdown-1")
    tending.tend()

    assert Experiment.objects.get().state == DONE


def test_what_runs_from_the_command_line_is_followed_and_is_stopped_when_it_is_gone(home):
    folder = home / "experiments" / "slowdown-1"
    recorded.keep("slowdown", folder, complete=False)
    with exclusive.exclusive(home / "experiments", folder):
        tending.tend()
        found = Experiment.objects.get()
        assert found.state == RUNNING
    tending.tend()

    assert state(found) == STOPPED


def test_the_same_seed_again_and_ends_of_what_is_over_are_refused(row, child, people):
    with pytest.raises(InputError, match="a seed that telemetry has not been run with"):
        requests.start(people["operator"], Plan("telemetry", 1))
    with pytest.raises(InputError, match="this one is running"):
        requests.resume(people["operator"], row)
    recorded.keep("telemetry", Path(row.folder))
    end(child[0])
    tending.tend()
    with pytest.raises(InputError, match="this one is done"):
        requests.cancel(people["operator"], row)


def test_of_two_who_start_the_same_at_once_one_is_told_so(row, people, monkeypatch):
    monkeypatch.setattr(QuerySet, "exists", lambda _: False)  # both have looked before either has written
    with pytest.raises(InputError, match="a seed that telemetry has not been run with"):
        requests.start(people["operator"], Plan("telemetry", 1))
    assert Experiment.objects.get() == row


@pytest.mark.parametrize(
    "progress", ['{"done": -1, "of": 1e9}', '{"done": "3", "of": null}', f'{{"done": 1, "now": "{"x" * 500}"}}']
)
def test_a_strange_progress_holds_up_no_other(home, people, child, progress):
    broken, fine = (requests.start(people["operator"], Plan("telemetry", seed)) for seed in (1, 2))
    Path(broken.folder).mkdir(parents=True)
    (Path(broken.folder) / "progress.json").write_text(progress)
    Experiment.objects.filter(pk=broken.pk).update(state=STOPPING)
    tending.tend()

    assert (state(broken), state(fine)) == (STOPPED, RUNNING)


def test_nothing_is_made_where_nobody_wants_an_experiment(home):
    tending.tend()

    assert not (home / "experiments").exists()


def test_the_real_command_takes_the_lock_that_it_is_handed(home, people):
    """The very process that a worker starts, with an experiment that cannot be."""
    found = requests.start(people["operator"], Plan("telemetry", 1))
    folder = Path(found.folder)
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text('{"name": "telemetry", "seed": 2, "full": false}')
    tending.tend()
    assert exclusive.running(selectors.base()) == folder
    eventually(lambda: exclusive.running(selectors.base()) is None, "the end of the command")
    tending.tend()

    assert state(found) == FAILED
    assert "there is an experiment in it with seed 2, not 1" in message(found.reason)
