"""One table of states, one of reasons; what is not in them is kept as it is and logged."""

from __future__ import annotations

import pytest

from gridportal.base.batch_system import BackendState
from gridportal.base.reasons import Code
from gridportal.slurm.jobs import Job, status
from gridportal.slurm.pending import REASONS, explain
from gridportal.slurm.translation import STATES, run_state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (["PENDING"], BackendState.PENDING),
        (["CANCELLED by 1000"], BackendState.FINISHED),
        (["OUT_OF_ME+"], BackendState.UNKNOWN),
        (["RUNNING", "COMPLETING"], BackendState.RUNNING),
        (["COMPLETED", "COMPLETING"], BackendState.RUNNING),
        (["NODE_FAIL", "REQUEUED"], BackendState.PENDING),
        (["PREEMPTED"], BackendState.FINISHED),
        (["SUSPENDED"], BackendState.RUNNING),
        (["SPECIAL_EXIT"], BackendState.PENDING),
        (["BOOT_FAIL"], BackendState.FINISHED),
        (["DEADLINE"], BackendState.FINISHED),
        (["RUNNING", "UPDATE_DB"], BackendState.RUNNING),
        (["R"], BackendState.RUNNING),
        ([], BackendState.UNKNOWN),
    ],
)
def test_slurms_states_in_ours(words: list[str], state: BackendState) -> None:
    assert run_state(words)[0] is state


def test_only_a_completed_job_has_exit_code_zero() -> None:
    for word, (state, _) in STATES.items():
        if state is BackendState.FINISHED:
            assert (status(Job("1", (word,), exit_code=0)).exit_code == 0) == (word == "COMPLETED"), word


def test_every_end_but_success_and_plain_failure_is_explained() -> None:
    silent = {word for word, (state, cause) in STATES.items() if state is BackendState.FINISHED and cause is Code.NONE}
    assert silent == {"COMPLETED", "FAILED"}


def test_every_known_reason_has_a_sentence_and_a_next_step() -> None:
    for reason in REASONS:
        pending = explain(reason)
        assert pending.summary.endswith("."), reason
        assert pending.next_step.endswith("."), reason


@pytest.mark.parametrize(
    ("reason", "words", "can_start"),
    [
        ("Priority", "Jobs of higher priority are ahead in the queue.", True),
        ("(JobHeldAdmin)", "It is held by an administrator, who alone can release it.", False),
        ("QOSMaxCpuPerUserLimit", "The QOS's limit of CPUs per user is reached.", True),
        ("QOSMaxCpuPerJobLimit", "The QOS's limit of CPUs per job is reached.", False),
        ("QOSMaxJobsPerUserLimit", "The QOS's limit of jobs per user is reached.", True),
        ("QOSMaxWallDurationPerJobLimit", "The QOS's limit of wall time per job is reached.", False),
        ("QOSGrpNodeLimit", "The QOS's limit of nodes for all running jobs together is reached.", True),
        ("AssocGrpCpuLimit", "The account's limit of CPUs for all running jobs together is reached.", True),
        ("AssocGrpGRESMinutes", "The account's limit of GRES minutes for all running jobs together is reached.", True),
        ("AssocMaxJobsLimit", "The account's limit of jobs is reached.", True),
        ("QOSMinGRES", "The QOS's lower limit of GRES (such as GPUs) is not met.", False),
        ("ReqNodeNotAvail,_UnavailableNodes:n[1-3]", "Chosen nodes are down, drained or reserved: n[1-3].", True),
        ("ReqNodeNotAvail(Unavailable:n2)", "Slurm says: ReqNodeNotAvail(Unavailable:n2).", True),
        ("BadConstraints", "No node can meet its constraints.", False),
        ("Moon_is_full", "Slurm says: Moon_is_full.", True),
    ],
)
def test_reasons_in_words(reason: str, words: str, can_start: bool) -> None:
    pending = explain(reason)
    assert (pending.summary, pending.can_start) == (words, can_start)
