"""Contracts of runs: opened by what the past promises, judged line by line, closed with what each model erred."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code
from scheduling.contracts.core.first_reports import ENOUGH
from scheduling.contracts.core.outlook import Standing
from scheduling.contracts.models import Contract, ContractCall, ModelOutcome
from scheduling.contracts.selectors import promises
from scheduling.contracts.selectors.contract_stories import contract_document, story_of
from scheduling.contracts.services import judging, new_reports, opening
from scheduling.contracts.services.tending import tend_contracts
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.messages import message
from scheduling.rescheduling.services.rescheduler import answer_calls
from scheduling.runs.models import Run
from tests.scheduling.contracts.reported import AT, end, report

NewRun = Callable[..., Run]


@pytest.fixture
def new_run(people: Any, make_job: Any) -> NewRun:
    """A run that goes on, with an empty progress file."""

    def make(**fields: Any) -> Run:
        run: Run = make_job(people["user"], "running", **fields).runs.get()
        Path(run.run_dir, "progress.jsonl").touch()
        return run

    return make


def past(new_run: NewRun, *means: float, **fields: Any) -> None:
    """Runs that ended well, of a hundred steps each."""
    for mean in means:
        run = new_run(**fields)
        report(run, *[mean] * 100)
        end(run)


def contract(run: Run) -> Contract:
    return Contract.objects.get(run=run)


def test_a_run_is_promised_the_median_of_its_past(new_run: NewRun) -> None:
    past(new_run, 1.0, 1.1, 7.0)
    run = new_run()
    assert tend_contracts() == 2  # opened, and it waits
    promised = contract(run).prediction
    assert promised is not None
    assert (promised.model, promised.total) == ("past-runs", pytest.approx(110.0))
    assert contract(run).standing == Standing.WAITING
    assert tend_contracts() == 0


def test_a_cluster_is_read_once_for_all_runs_that_begin(new_run: NewRun, monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    monkeypatch.setattr(opening, "clusters", SimpleNamespace(cluster=read.append))
    runs = [new_run() for _ in range(3)]
    tend_contracts()
    assert read == [runs[0].job.cluster]
    assert Contract.objects.filter(run__in=runs).count() == 3


def test_a_slow_run_calls_and_its_job_says_so(new_run: NewRun) -> None:
    past(new_run, 1.0)
    run = new_run()
    report(run, *[1.0] * 10)
    tend_contracts()
    assert contract(run).standing == Standing.KEPT
    report(run, *[6.0] * 5, first=11)
    tend_contracts()
    found, call = contract(run), ContractCall.objects.get()
    assert found.standing == Standing.VIOLATED
    assert (call.phase, call.promised, call.seconds, call.at.timestamp()) == ("step", 1.0, 6.0, AT + call.report)
    assert call.average > 2
    assert call.ret_current is not None
    assert call.complete == pytest.approx(call.report / 100)
    event = run.job.events.last()
    assert (event.reason.code, event.to_state) == (Code.CONTRACT_BROKEN, "running")
    assert message(event.reason).startswith("It gets less than it was promised: step takes 6 s in place of 1 s")
    assert answer_calls() == 1
    assert [each.cause.value for each in contract(run).monitor_state.adjustments] == ["refused"]
    assert [standing for standing, _ in found.standings] == ["kept", "violated"]


def test_lines_are_judged_once_in_whatever_pieces_they_are_read(
    new_run: NewRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    past(new_run, 1.0)
    whole, pieces = new_run(), None
    seconds = [1.0] * 30 + [9.0] * 30 + [0.1] * 40
    report(whole, *seconds)
    tend_contracts()
    expected = contract(whole).monitor
    Run.objects.filter(pk=whole.pk).update(state="failed", ended_at=timezone.now())
    pieces = new_run()
    monkeypatch.setattr(new_reports, "_CHUNK", 500)
    for at in range(0, 100, 7):
        report(pieces, *seconds[at : at + 7], first=at + 1)
        tend_contracts()
    found = contract(pieces).monitor
    assert found.pop("last_at") == expected.pop("last_at")
    for when in ("heard_at", "batch"):  # of when and in which pieces they were read
        assert (found.pop(when), expected.pop(when)) > (0, 0)
    assert found == expected


def test_who_lost_the_race_for_lines_writes_nothing(new_run: NewRun) -> None:
    past(new_run, 1.0)
    run = new_run()
    tend_contracts()
    report(run, *[9.0] * 4)
    first, second = (promises.unclosed(run.job.cluster)[0] for _ in range(2))
    judging.judge(first)
    judging.judge(second)
    assert ContractCall.objects.count() == 1
    assert contract(run).monitor_state.reports == 4


def test_the_first_reports_are_the_promise_where_nothing_else_is(new_run: NewRun) -> None:
    run = new_run()
    report(run, *[2.0] * ENOUGH, *[2.0] * 5)
    tend_contracts()
    promised = contract(run).prediction
    assert promised is not None
    assert (promised.model, promised.total) == ("first-reports", 200.0)
    assert contract(run).monitor_state.reports == 5
    report(run, *[30.0] * 2, first=14)
    tend_contracts()
    assert ContractCall.objects.count() == 1


def test_first_reports_on_busy_nodes_are_no_promise(new_run: NewRun) -> None:
    run = new_run()
    run.placement.objective = {"min_bandwidth": None, "min_cpu": 0.3}
    run.placement.save()
    report(run, *[2.0] * 50)
    tend_contracts()
    assert contract(run).prediction is None
    assert contract(run).standing == Standing.WAITING


def test_a_silent_run_is_silent_and_calls_once(new_run: NewRun) -> None:
    past(new_run, 1.0)
    run = new_run()
    ago = timezone.now() - timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(started_at=ago)
    report(run, *[1.0] * 3)
    tend_contracts()
    heard = timezone.now().timestamp() - 31
    Contract.objects.update(monitor={**contract(run).monitor, "heard_at": heard}, opened_at=ago)
    tend_contracts()
    tend_contracts()
    assert contract(run).standing == Standing.SILENT
    assert ContractCall.objects.count() == 1


@pytest.mark.parametrize("wrong", [timedelta(minutes=-20), timedelta(minutes=20)])
def test_silence_is_by_the_clock_of_the_portal_and_not_by_that_of_a_node(new_run: NewRun, wrong: timedelta) -> None:
    past(new_run, 1.0)
    run, now = new_run(), timezone.now()
    report(run, *[1.0] * 3, since=(now + wrong).timestamp())
    tend_contracts()
    assert contract(run).standing == Standing.KEPT, "it has just been read"
    Contract.objects.update(opened_at=now - timedelta(hours=1))
    Run.objects.filter(pk=run.pk).update(started_at=now - timedelta(hours=1))
    later = now + timedelta(seconds=40)
    assert promises.standing_of(contract(run), later) == Standing.SILENT
    assert story_of(contract(run), later).quiet == pytest.approx(40, abs=20)


def test_a_promise_of_first_reports_is_not_silent_when_it_is_made(new_run: NewRun) -> None:
    run = new_run()
    tend_contracts()
    Contract.objects.update(opened_at=timezone.now() - timedelta(hours=1))
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(hours=1))
    report(run, *[2.0] * ENOUGH)
    tend_contracts()
    assert contract(run).prediction is not None
    assert contract(run).standing == Standing.WAITING


NOW = timezone.now()


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still."""
    monkeypatch.setattr(judging, "timezone", SimpleNamespace(now=lambda: NOW))


def quiet_for(run: Run, seconds: float) -> None:
    """So long ago was its last report read, and that alone."""
    heard = NOW.timestamp() - seconds
    Contract.objects.update(monitor={**contract(run).monitor, "heard_at": heard, "batch": 1.0})


@pytest.mark.usefixtures("still")
def test_a_report_that_is_overdue_calls_before_it_comes(new_run: NewRun) -> None:
    """On crowded nodes the next report takes many times its promise: nobody waits for that."""
    past(new_run, 1.0)
    run = new_run()
    report(run, *[1.0] * 10)
    tend_contracts()
    quiet_for(run, 13.0)
    tend_contracts()
    assert not ContractCall.objects.exists(), "(10 + 13) / (10 + 2) is no more than twice as slow"
    quiet_for(run, 60.0)
    tend_contracts()
    call = ContractCall.objects.get()
    assert (call.report, call.phase, call.promised) == (10, "step", 1.0)
    assert (call.seconds, call.average) == (pytest.approx(60.0), pytest.approx(70 / 12))
    assert call.ret_current is not None
    assert call.ret_current > 10 * 90, "the rest as slow as that"
    event = run.job.events.last()
    assert event.reason.code is Code.CONTRACT_OVERDUE
    assert "it has reported nothing for 60 s" in message(event.reason)
    story = story_of(contract(run))
    assert story.overdue == {call.pk}
    assert [each["overdue"] for each in contract_document(story)["calls"]] == [True]
    assert answer_calls() == 1
    assert contract(run).limits.upper < contract(run).monitor_state.limits.upper
    tend_contracts()
    assert ContractCall.objects.count() == 1, "once for each report that came"


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("state", ["halting", "stopping", "missing"])
def test_a_run_that_is_to_stop_or_is_missing_need_not_report(new_run: NewRun, state: str) -> None:
    past(new_run, 1.0)
    run = new_run()
    report(run, *[1.0] * 10)
    tend_contracts()
    quiet_for(run, 600.0)
    Run.objects.filter(pk=run.pk).update(state=state)
    tend_contracts()
    assert not ContractCall.objects.exists()


@pytest.mark.usefixtures("still")
def test_reports_that_nobody_has_read_are_no_silence(new_run: NewRun) -> None:
    """The portal was away for ten minutes."""
    past(new_run, 1.0)
    run = new_run()
    report(run, *[1.0] * 10)
    tend_contracts()
    quiet_for(run, 600.0)
    report(run, *[1.0] * 10, first=11)
    tend_contracts()
    assert not ContractCall.objects.exists()
    assert contract(run).standing == Standing.KEPT


def test_a_run_that_ends_well_tells_every_model_its_error(new_run: NewRun) -> None:
    past(new_run, 1.0)
    run = new_run()
    tend_contracts()
    report(run, *[1.5] * 100)
    end(run)
    tend_contracts()
    assert contract(run).closed_at is not None
    assert ModelOutcome.objects.values_list("model", "phase", "predicted", "actual").get() == (
        "past-runs",
        "step",
        1.0,
        pytest.approx(1.5),
    )
    (record,) = promises.model_records(run.job.application_id)
    assert (record.runs, record.error, record.ratio) == (1, pytest.approx(0.5), pytest.approx(1.5))
    tend_contracts()
    assert ModelOutcome.objects.count() == 1


def test_a_failed_run_tells_nobody(new_run: NewRun) -> None:
    past(new_run, 1.0)
    run = new_run()
    tend_contracts()
    report(run, 9.0)
    Run.objects.filter(pk=run.pk).update(state="failed", ended_at=timezone.now())
    tend_contracts()
    assert contract(run).closed_at is not None
    assert not ModelOutcome.objects.exists()


def test_garbage_and_endless_lines_stop_nothing(new_run: NewRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_reports, "_CHUNK", 1000)
    past(new_run, 1.0)
    run = new_run()
    with Path(run.run_dir, "progress.jsonl").open("a", encoding="utf-8") as file:
        file.write("x" * 5000 + "\n{}\n[[[\n" + '{"event": "phase", "phase": "step", "seconds": -1}\n')
    report(run, *[1.0] * 5)
    for _ in range(8):
        tend_contracts()
    assert contract(run).monitor_state.reports == 5


def test_a_contract_that_cannot_be_read_stops_no_other(new_run: NewRun) -> None:
    past(new_run, 1.0)
    bad, good = new_run(), new_run(name="good")
    tend_contracts()
    Contract.objects.filter(run=bad).update(monitor={"clock": "long"})
    report(good, *[1.0] * 5)
    tend_contracts()
    assert contract(good).monitor_state.reports == 5


THERMO = {"pattern": r"^ *(?P<step>\d+) +(?P<elapsed>[\d.]+) +-?\d", "of": "steps"}


def thermo(run: Run, *seconds: float, first: int = 0, every: int = 50) -> None:
    """What LAMMPS prints with `thermo_style custom step cpu temp`."""
    with Path(run.run_dir, "output.log").open("a", encoding="utf-8") as file:
        for at, each in enumerate(seconds, start=first):
            file.write(f"{at * every:>8} {each:>10.4f} {0.7:>10.4f}\n")


@pytest.fixture
def lammps(new_run: NewRun, application: Any) -> NewRun:
    """Runs of a program that writes a log and nothing else."""
    application.output_patterns = OutputPatterns.read({"progress": THERMO})
    application.save()
    return lambda: new_run(parameters={"steps": 5000, "klass": "S"})


def test_a_program_that_nobody_instrumented_has_a_contract_from_its_log(lammps: NewRun) -> None:
    """Its first steps are the promise, the next run has the median of its past, and a slowdown is noticed."""
    first = lammps()
    tend_contracts()
    thermo(first, *[0.5 * at for at in range(101)])
    tend_contracts()
    promised = contract(first).prediction
    assert promised is not None
    assert (promised.model, promised.total) == ("first-reports", pytest.approx(50.0))
    assert first.phase_totals.get().count == 100
    end(first)
    tend_contracts()
    second = lammps()
    thermo(second, *[0.5 * at for at in range(21)])
    tend_contracts()
    assert contract(second).standing == Standing.KEPT
    thermo(second, *[10 + 3.0 * at for at in range(1, 9)], first=21)
    tend_contracts()
    call = ContractCall.objects.get(contract__run=second)
    assert (call.phase, call.promised, call.seconds) == ("steps", pytest.approx(0.5), pytest.approx(3.0))
    assert call.complete == pytest.approx(call.report / 100)


def test_a_log_whose_middle_was_taken_out_is_read_on_behind(lammps: NewRun) -> None:
    run = lammps()
    thermo(run, *[0.5 * at for at in range(30)])
    tend_contracts()
    Path(run.run_dir, "output.log").write_text("cut\n")
    tend_contracts()
    thermo(run, 40.0, 40.5, 41.0, first=80)
    tend_contracts()
    assert run.phase_totals.get().count == 29 + 2
    assert run.phase_totals.get().most == pytest.approx(0.5)


def test_the_figures_that_a_program_writes_to_a_file_are_its_progress(new_run: NewRun, application: Any) -> None:
    lines = {"pattern": r"^(?P<step>\d+),(?P<elapsed>[\d.]+)", "of": "steps", "file": "out/energies.csv"}
    application.output_patterns = OutputPatterns.read({"progress": lines})
    application.save()
    run = new_run(parameters={"steps": 100, "klass": "S"})
    file = Path(run.run_dir, "out", "energies.csv")
    tend_contracts()
    file.parent.mkdir()
    file.write_text("step,time\n" + "".join(f"{at},{2.0 * at}\n" for at in range(20)))
    tend_contracts()
    promised = contract(run).prediction
    assert promised is not None
    assert promised.total == pytest.approx(200.0)
    assert run.phase_totals.get().count == 19


def test_rounds_of_the_outermost_loop_are_progress(new_run: NewRun, application: Any) -> None:
    """The first run's rounds are the promise of the second, by the same number of rounds, and a slowdown is noticed."""
    application.output_patterns = OutputPatterns.read({"rounds": True})
    application.save()

    def rounds(run: Run, *marks: tuple[int, float]) -> None:
        folder = Path(run.run_dir, "trace")
        folder.mkdir(exist_ok=True)
        with (folder / "loop-marks").open("a", encoding="utf-8") as file:
            file.writelines(f"2 {number} {seconds:.6f}\n" for number, seconds in marks)

    first = new_run()
    rounds(first, *[(10 * at, 0.2 * at) for at in range(1, 41)])
    for _ in range(2):  # opened, then judged
        tend_contracts()
    end(first)
    tend_contracts()
    assert first.phase_totals.get().phase == "loop-2x10"
    second = new_run()
    rounds(second, *[(10 * at, 0.2 * at) for at in range(1, 11)], *[(100 + at, 2 + 0.2 * at) for at in range(1, 81)])
    tend_contracts()
    found = contract(second)
    assert found.prediction is not None
    assert (found.prediction.model, found.standing) == ("past-runs", Standing.VIOLATED)
    assert ContractCall.objects.get(contract=found).seconds == pytest.approx(2.0)


def test_reports_of_a_progress_file_that_was_begun_anew_are_judged_too(new_run: NewRun) -> None:
    past(new_run, 1.0, 1.0)
    run = new_run()
    report(run, *[1.0] * 10)
    tend_contracts()
    assert contract(run).monitor_state.reports == 10
    Path(run.run_dir, "progress.jsonl").unlink()
    report(run, *[1.0] * 3, first=11)
    tend_contracts()
    assert contract(run).monitor_state.reports == 13


def test_before_the_first_report_pages_count_silence_from_the_start_as_its_standing_does(new_run: NewRun) -> None:
    past(new_run, 1.0, 1.0)
    run = new_run()
    tend_contracts()
    began = timezone.now() - timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(started_at=began)
    Contract.objects.update(opened_at=began)
    story = story_of(contract(run), began + timedelta(hours=1))
    assert story.standing is Standing.SILENT
    assert story.quiet == pytest.approx(3600.0)
