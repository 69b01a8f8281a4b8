"""Text of squeue, sacct and scontrol, and host lists."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import BackendError, InputError
from gridportal.network.importers.hostlist import expand
from gridportal.slurm import job_text
from gridportal.slurm.node_state import node_state
from gridportal.slurm.nodes import parse_nodes
from gridportal.slurm.partitions import parse_partitions, parse_reservations, seconds
from gridportal.slurm.values import exit_status, when
from gridportal.slurm.versions import parse_config

S = job_text.SEPARATOR


def test_a_line_of_squeue_is_a_job() -> None:
    fields = ["12_3", "COMPLETED", "1792", "1700000000", "1700000009", "1", "gp-k", "None", "the | key"]
    (job,) = job_text.parse_squeue(S.join(field.ljust(24) for field in fields) + S + "\n")
    assert (job.id, job.root, job.exit_code, job.signal) == ("12_3", "12", 7, None)
    assert (job.started_at, job.ended_at, job.restarts, job.comment) == (1_700_000_000, 1_700_000_009, 1, "the | key")


def test_a_line_of_sacct_is_a_job() -> None:
    line = S.join(
        ["12", "CANCELLED by 0", "0:15", "Unknown", "2026-11-20T19:22:30", "None assigned", "gp-k", "None", ""]
    )
    (job,) = job_text.parse_sacct(line + "\n")
    assert (job.exit_code, job.signal, job.started_at, job.nodes) == (None, 15, None, "")
    assert job.ended_at == time.mktime((2026, 11, 20, 19, 22, 30, 0, 0, -1))


def test_scontrol_tells_the_parts_of_a_job_by_their_place() -> None:
    lines = "".join(f"JobId={5 + n} HetJobId=5 HetJobOffset={n} JobName=gp-k JobState=RUNNING\n" for n in (0, 1))
    assert [(job.id, job.root) for job in job_text.parse_scontrol(lines)] == [("5+0", "5"), ("5+1", "5")]


def test_scontrols_job_is_read_on_one_line_and_on_many() -> None:
    words = [
        "JobId=5 ArrayJobId=4 ArrayTaskId=2 JobName=a b=c",
        "JobState=FAILED Reason=NonZeroExitCode Restarts=2",
        "ExitCode=7:0",
        "StartTime=1700000000",
        "NodeList=n[1-3]",
        "Comment=k JobState=X",
    ]
    for text in (" ".join(words), "\n   ".join(words)):
        (job,) = job_text.parse_scontrol(text + "\n")
        assert (job.id, job.states, job.exit_code, job.nodes, job.restarts) == ("4_2", ("FAILED",), 7, "n[1-3]", 2)


@given(st.text())
def test_no_text_makes_the_parsers_fail_in_another_way_than_theirs(text: str) -> None:
    for parse in (
        job_text.parse_squeue,
        job_text.parse_sacct,
        job_text.parse_scontrol,
        parse_nodes,
        parse_partitions,
        parse_reservations,
        parse_config,
    ):
        with contextlib.suppress(BackendError):
            parse(text)


@given(st.lists(st.text(alphabet=st.sampled_from("0123456789_[]+-:NA%CDR " + S)), min_size=9, max_size=9))
def test_strange_fields_make_no_crash(fields: list[str]) -> None:
    for job in job_text._lines(
        "squeue", "1" + S + "RUNNING" + (S + "x") * 7 + "\n" + S.join(fields), 9, job_text._squeue_job
    ):
        assert job.state is not None


@pytest.mark.parametrize(
    ("value", "pair"),
    [
        ("0:0", (0, None)),
        ("0:9", (None, 9)),
        ("3:0", (3, None)),
        (0, (0, None)),
        ("1792", (7, None)),
        (9, (None, 9)),
        (137, (None, 9)),
        ({"return_code": 2, "signal": {"signal_id": 0}}, (2, None)),
        ("x", (None, None)),
        ({"set": True, "infinite": False, "number": 256}, (1, None)),
        (None, (None, None)),
        (4294967294, (None, None)),
    ],
)
def test_exit_codes_in_all_shapes(value: object, pair: tuple[int | None, int | None]) -> None:
    assert exit_status(value) == pair


@pytest.mark.parametrize("value", ["N/A", "Unknown", "None", "", None, 0, "0", {"set": False}, "2026-99-99T00:00:00"])
def test_times_that_are_none(value: object) -> None:
    assert when(value) is None


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z]{1,6}-?", fullmatch=True),
            st.lists(st.tuples(st.integers(0, 400), st.integers(0, 12)), min_size=1, max_size=4),
            st.integers(1, 4),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_host_lists_expand_to_the_names_they_were_made_of(groups: list[tuple[str, list[tuple[int, int]], int]]) -> None:
    names, words = [], []
    for prefix, ranges, width in groups:
        words.append(
            f"{prefix}[{','.join(f'{a:0{width}d}-{a + n:0{width}d}' if n else f'{a:0{width}d}' for a, n in ranges)}]"
        )
        names += [f"{prefix}{value:0{width}d}" for a, n in ranges for value in range(a, a + n + 1)]
    assert expand(",".join(words)) == names


@pytest.mark.parametrize(
    "text",
    ["n[1-", "n]1[", "n[[1]]", "n[3-1]", "n[a-b]", "n[1-9999999]", "n[]", "n[1][1-99999999]", "n[\u0663-\u0664]"],
)
def test_host_lists_that_are_none_are_named(text: str) -> None:
    with pytest.raises(InputError, match="host list is"):
        expand(text)


@pytest.mark.parametrize(
    ("raw", "base", "flags"),
    [
        ("IDLE", "IDLE", ()),
        ("down*", "DOWN", ("NOT_RESPONDING",)),
        ("idle~", "IDLE", ("POWERED_DOWN",)),
        ("alloc#", "ALLOCATED", ("POWERING_UP",)),
        ("MIXED+CLOUD+POWERED_UP", "MIXED", ("CLOUD", "POWERED_UP")),
        ("IDLE+DRAIN+NOT_RESPONDING", "IDLE", ("DRAIN", "NOT_RESPONDING")),
        ("drained*", "IDLE", ("DRAINED", "NOT_RESPONDING")),
        ("maint", "IDLE", ("MAINT",)),
        ("mix-", "MIXED", ("PLANNED",)),
        (["ALLOCATED", "COMPLETING"], "ALLOCATED", ("COMPLETING",)),
        ("levitating", "UNKNOWN", ("LEVITATING",)),
    ],
)
def test_node_states_with_marks_and_flags(raw: object, base: str, flags: tuple[str, ...]) -> None:
    assert node_state(raw) == (base, flags)


def test_a_node_of_scontrol() -> None:
    (node,) = parse_nodes(
        "NodeName=n1 Arch=x86_64 CPUAlloc=2 CPUEfctv=4 CPUTot=4 CPULoad=1.25 AvailableFeatures=a,b ActiveFeatures=a "
        "Gres=gpu:a100:2(S:0) GresUsed=gpu:a100:1(IDX:0) NodeAddr=10.0.0.1 NodeHostName=host1 Version=23.11.4 "
        "OS=Linux 6.1 #1 SMP RealMemory=1000 FreeMem=N/A State=MIXED+DRAIN Partitions=main,tiny "
        "Reason=bad disk State=IDLE [root@2026-11-20T19:22:30]\n"
    )
    assert (node.state, node.flags, node.usable) == ("MIXED", ("DRAIN",), False)
    assert (node.cpu_load, node.memory, node.free_memory) == (1.25, 1000 * 2**20, None)
    assert (node.features, node.partitions, node.gres) == (("a",), ("main", "tiny"), "gpu:a100:2")
    assert node.reason.startswith("bad disk")


def test_partitions_and_reservations_of_scontrol() -> None:
    (part,) = parse_partitions(
        "PartitionName=main AllowAccounts=a,b AllowQos=ALL Default=YES DefaultTime=NONE "
        "MaxNodes=UNLIMITED MaxTime=1-00:00:00 Nodes=n[1-3] State=UP\n"
    )
    assert (part.accounts, part.qos, part.max_time, part.max_nodes, part.up) == (("a", "b"), (), 86400, None, True)
    (held,) = parse_reservations(
        "ReservationName=r StartTime=1700000000 EndTime=1700003600 Duration=01:00:00\n"
        "   Nodes=n[1,3] Flags=MAINT,SPEC_NODES Users=(null) Accounts=phys\n"
    )
    assert (held.nodes, held.users, held.accounts, held.flags) == ("n[1,3]", (), ("phys",), ("MAINT", "SPEC_NODES"))
    assert parse_reservations("No reservations in the system\n") == []


@pytest.mark.parametrize(("text", "value"), [("30", 30), ("05:00", 300), ("UNLIMITED", None), ("2-01:00:00", 176400)])
def test_slurms_durations(text: str, value: float | None) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize(
    ("version", "storage", "accounting", "warned"),
    [
        ("22.05.8", "accounting_storage/none", False, False),
        ("25.05.4", "accounting_storage/slurmdbd", True, False),
        ("24.11.0", "(null)", False, False),
        ("20.02.7", "accounting_storage/slurmdbd", True, True),
    ],
)
def test_the_configuration_says_version_and_accounting(
    version: str, storage: str, accounting: bool, warned: bool
) -> None:
    cluster = parse_config(f"AccountingStorageType = {storage}\nMinJobAge = 300 sec\nSLURM_VERSION = {version}\n")
    assert (cluster.accounting, cluster.min_job_age, bool(cluster.warning)) == (accounting, 300, warned)
