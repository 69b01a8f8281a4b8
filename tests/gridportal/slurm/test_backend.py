"""SlurmBackend before fake commands: once only, one squeue, and nothing that an answer can break."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import file_lock
from gridportal.base.batch_system import BackendState, RunSpec
from gridportal.base.errors import BackendError, RefusedError
from gridportal.base.reasons import Code
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.once import LOCK
from gridportal.slurm.submit import SlurmOptions, job_name
from tests.gridportal.slurm.fakes import FakeSlurm


@pytest.fixture
def spec(tmp_path: Path) -> RunSpec:
    (tmp_path / "run").mkdir()
    return RunSpec("job-7-run-1", "#!/bin/bash\ntrue\n", ("n3", "n1"), str(tmp_path / "run"))


def test_a_first_submission_is_one_command(slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec) -> None:
    assert backend.submit(spec) == "100"
    assert [call["name"] for call in slurm.calls()] == ["sbatch"]
    assert slurm.state()["jobs"][0]["script"].startswith("#!/bin/bash\n")


def test_the_same_key_again_is_the_same_job(slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec) -> None:
    assert [backend.submit(spec) for _ in range(3)] == ["100"] * 3
    slurm.change("100", state="COMPLETED")
    assert backend.submit(spec) == "100"
    assert len(slurm.calls("sbatch")) == 1


def test_an_answer_that_was_lost_does_not_double_the_job(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec
) -> None:
    slurm.set(mode="late")
    with pytest.raises(BackendError, match="too busy"):
        backend.submit(spec)
    slurm.set(mode="ok")
    assert backend.submit(spec) == "100"
    assert len(slurm.state()["jobs"]) == 1


def test_a_key_that_squeue_forgot_is_found_in_the_accounts(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec
) -> None:
    slurm.set(accounting=True)
    backend.submit(spec)
    slurm.change("100", state="COMPLETED", forgotten=True)
    assert backend.submit(spec) == "100"
    assert backend.poll([spec.key])[spec.key].state is BackendState.FINISHED


def test_two_that_submit_at_once_start_one_job(slurm: FakeSlurm, spec: RunSpec) -> None:
    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(lambda _: SlurmBackend(SlurmCommands(timeout=20)).submit(spec), range(4)))
    assert ids == ["100"] * 4
    assert len(slurm.state()["jobs"]) == 1


def test_one_that_is_overtaken_between_making_the_lock_and_taking_it_asks_slurm(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire, overtaken = file_lock.acquire, []

    def slowly(*args: Any) -> bool:
        if not overtaken:
            overtaken.append(True)
            assert SlurmBackend(SlurmCommands(timeout=20)).submit(spec) == "100"
        return acquire(*args)

    monkeypatch.setattr(file_lock, "acquire", slowly)
    assert backend.submit(spec) == "100"
    assert len(slurm.state()["jobs"]) == 1


def test_of_two_jobs_with_one_key_the_later_is_cancelled(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(spec.run_dir, LOCK).touch()
    answers = iter([None, "42"])
    monkeypatch.setattr(backend, "find", lambda key: next(answers))
    assert backend.submit(spec) == "42"
    assert slurm.state()["jobs"][0]["state"] == "CANCELLED"


def test_a_run_directory_that_cannot_be_written_to_makes_slurm_be_asked(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec
) -> None:
    elsewhere = RunSpec(spec.key, spec.script, spec.nodes, "/no/such/place")
    assert backend.submit(elsewhere) == "100"
    assert backend.submit(elsewhere) == "100"
    assert len(slurm.calls("sbatch")) == 1


def test_another_persons_job_of_the_same_name_is_not_ours(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec
) -> None:
    slurm.job("5", "RUNNING", name=job_name(spec.key), comment="something else")
    assert backend.find(spec.key) is None


def test_a_refused_submission_says_what_slurm_said(slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec) -> None:
    with pytest.raises(RefusedError, match="Batch job submission failed: Invalid partition name specified"):
        backend.submit(spec, SlurmOptions(partition="nowhere"))


def test_a_thousand_jobs_are_polled_with_one_squeue(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    whole = slurm.state()
    whole["jobs"] = [{"id": str(i), "state": "RUNNING", "exit_code": 0, "name": "x", "start": 99} for i in range(1000)]
    slurm.set(**whole)
    found = backend.poll([str(i) for i in range(1000)])
    assert {status.state for status in found.values()} == {BackendState.RUNNING}
    assert [call["name"] for call in slurm.calls()] == ["squeue"]


def test_those_that_squeue_forgot_are_asked_of_sacct_in_one_call(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    slurm.set(accounting=True)
    slurm.job("1", "RUNNING")
    slurm.job("2", "COMPLETED", forgotten=True, start=1_700_000_000, end=1_700_000_060)
    slurm.job("3", "OUT_OF_MEMORY", 125 << 8, forgotten=True)
    found = backend.poll(["1", "2", "3", "4"])
    assert [found[i].state.value for i in "1234"] == ["running", "finished", "finished", "unknown"]
    assert (found["2"].exit_code, found["2"].ended_at) == (0, 1_700_000_060)
    assert found["3"].exit_code == 125
    assert found["3"].cause is Code.OUT_OF_MEMORY
    assert len(slurm.calls("sacct")) == 1
    backend.poll(["2"])
    assert len(slurm.calls("scontrol")) == 1  # the configuration is remembered


def test_without_accounts_what_slurm_forgot_is_unknown(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    assert backend.poll(["77"])["77"].state is BackendState.UNKNOWN
    assert slurm.calls("sacct") == []


def test_lines_that_are_no_jobs_are_logged_and_skipped(
    slurm: FakeSlurm, backend: SlurmBackend, caplog: pytest.LogCaptureFixture
) -> None:
    slurm.set(mode="partial")
    slurm.job("1", "RUNNING")
    with caplog.at_level(logging.WARNING):
        found = backend.poll(["1", "2"])
    assert (found["1"].state, found["2"].state) == (BackendState.RUNNING, BackendState.UNKNOWN)
    assert sum("is no job" in record.message for record in caplog.records) == 2


def test_a_state_that_nobody_knows_is_unknown_and_logged(
    slurm: FakeSlurm, backend: SlurmBackend, caplog: pytest.LogCaptureFixture
) -> None:
    slurm.job("1", "LEVITATING")
    assert backend.poll(["1"])["1"].state is BackendState.UNKNOWN
    assert "LEVITATING" in caplog.text


def test_an_array_is_polled_as_one_and_by_task(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    slurm.job("8_1", "COMPLETED")
    slurm.job("8_2", "FAILED", 3 << 8)
    slurm.job("9_1", "RUNNING", start=1_700_000_000)
    slurm.job("9_2", "PENDING")
    found = backend.poll(["8", "8_1", "8_2", "9"])
    assert [found[i].exit_code for i in ("8", "8_1", "8_2")] == [3, 0, 3]
    assert found["9"].state is BackendState.RUNNING


def test_a_heterogeneous_job_runs_while_any_part_runs(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    slurm.job("8+0", "COMPLETED")
    slurm.job("8+1", "RUNNING")
    assert backend.poll(["8"])["8"].state is BackendState.RUNNING


def test_where_no_scheduler_starts_parts_whole_nodes_are_asked_for(
    slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec, tmp_path: Path
) -> None:
    for number, scheduler in enumerate(("sched/backfill", "sched/builtin")):
        slurm.set(scheduler=scheduler)
        (tmp_path / scheduler).mkdir(parents=True)
        uneven = replace(spec, key=f"uneven-{number}", nodes=("n1", "n2", "n1"), run_dir=str(tmp_path / scheduler))
        SlurmBackend(SlurmCommands(timeout=10)).submit(uneven, SlurmOptions(shared=True))
    in_parts, whole = (call["argv"] for call in slurm.calls("sbatch"))
    assert ":" in in_parts
    assert "--exclusive" not in in_parts
    assert ":" not in whole
    assert "--exclusive" in whole


def test_free_text_may_hold_any_character_that_can_be_typed(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    slurm.job("1", "RUNNING", name="a|b,c;d", comment="x|y\tz")
    assert backend.poll(["1"])["1"].state is BackendState.RUNNING


def test_why_a_run_waits_comes_with_its_expected_start(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    slurm.job("1", "PENDING", reason="Resources", start=1_800_000_000)
    slurm.job("2", "RUNNING")
    found = backend.pending(["1", "2"])
    assert list(found) == ["1"]
    assert (found["1"].reason, found["1"].expected_start) == ("Resources", 1_800_000_000)
    assert backend.poll(["1"])["1"].started_at is None


def test_cancelling_by_key_cancels_its_job(slurm: FakeSlurm, backend: SlurmBackend, spec: RunSpec) -> None:
    backend.submit(spec)
    backend.cancel(spec.key)
    assert slurm.state()["jobs"][0]["state"] == "CANCELLED"
    with pytest.raises(BackendError, match="has no job for the run nothing"):
        backend.cancel("nothing")


def test_an_empty_poll_asks_nothing(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    assert backend.poll([]) == {}
    assert slurm.calls() == []


def test_nodes_come_in_text_and_where_the_version_has_it_in_json(slurm: FakeSlurm) -> None:
    assert SlurmBackend(SlurmCommands(timeout=10)).describe_nodes()[0].cpus == 4
    slurm.set(version="25.05.4")
    in_json = SlurmBackend(SlurmCommands(timeout=10), answers="json")
    assert [(node.name, node.address) for node in in_json.nodes()] == [("n1", "n1")]
    slurm.set(mode="garbage")
    with pytest.raises(BackendError, match=r"scontrol show nodes --json gave an answer that is no JSON: '<html>"):
        in_json.describe_nodes()
    with pytest.raises(BackendError, match="scontrol show nodes gave an answer without a node"):
        SlurmBackend(SlurmCommands(timeout=10)).describe_nodes()
