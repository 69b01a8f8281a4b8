"""The adapter before a real Slurm: what it promises is what happens."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gridportal.base.batch_system import BackendState, RunSpec, RunStatus
from gridportal.base.errors import BackendError, RefusedError
from gridportal.base.reasons import Code
from gridportal.network.importers.hostlist import expand
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.submit import SlurmOptions
from scheduling.messages import message
from tests.gridportal.slurm.private_slurm import PrivateSlurm
from tests.scheduling.portal import wait_for
from tests.waiting import looks

pytestmark = pytest.mark.slurm
SpecMaker = Callable[..., RunSpec]

# Under mpiexec every rank inherits the batch script's SLURMD_NODENAME; its proxy still has the node's own.
_NODE_OF_PROXY = r"tr '\0' '\n' < /proc/$PPID/environ | sed -n s/^SLURMD_NODENAME=//p"


@pytest.fixture
def spec(tmp_path: Path, real: SlurmBackend) -> Iterator[SpecMaker]:
    """spec("body", nodes=..., key=...): a run of its own directory; what still runs at the end is killed."""
    made: list[RunSpec] = []

    def make(body: str, nodes: tuple[str, ...] = ("n2",), **fields: object) -> RunSpec:
        run_dir = tmp_path / f"run {len(made)} 100%"
        run_dir.mkdir()
        key = f"{tmp_path.name}-{len(made)}"
        made.append(RunSpec(key, f"#!/bin/bash\n{body}\n", nodes, str(run_dir), **fields))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for one in made:
        if real.find(one.key):
            real.kill(one.key)


@pytest.fixture(scope="module", autouse=True)
def overdue(private_slurm: PrivateSlurm, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run whose time is up from the start. slurmctld looks at limits twice a minute, so the last test asks for it."""
    run_dir = tmp_path_factory.mktemp("overdue")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(private_slurm.conf))
        real = SlurmBackend(SlurmCommands(timeout=20))
        run_id = real.submit(RunSpec("overdue", "#!/bin/bash\nsleep 100\n", ("n2",), str(run_dir), 60.0))
        wait(real, run_id, BackendState.RUNNING)
    private_slurm.command("scontrol", "update", f"JobId={run_id}", "EndTime=now+2")
    return run_id


def wait(backend: SlurmBackend, run_id: str, state: BackendState, seconds: float = 90) -> RunStatus:
    """The status as soon as the run is in `state`."""
    for _ in looks(seconds):
        status = backend.poll([run_id])[run_id]
        if status.state is state:
            return status
    raise AssertionError(f"still {status} and not {state}")


def output(spec: RunSpec) -> list[str]:
    return Path(spec.run_dir, "output.log").read_text(encoding="utf-8").split("\n")


def test_ranks_run_on_the_chosen_nodes_in_the_chosen_order_under_srun(real: SlurmBackend, spec: SpecMaker) -> None:
    run = spec("srun --mpi=none bash -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'", ("n3", "n1", "n2"))
    status = wait(real, real.submit(run), BackendState.FINISHED)
    assert status.exit_code == 0
    assert sorted(line for line in output(run) if line.startswith("rank")) == ["rank 0 n3", "rank 1 n1", "rank 2 n2"]


def test_ranks_run_on_the_chosen_nodes_in_the_chosen_order_under_mpiexec(
    real: SlurmBackend, spec: SpecMaker, tmp_path: Path
) -> None:
    mpiexec = Path(sys.executable).with_name("mpiexec")
    if not mpiexec.exists():
        pytest.skip("mpich is not installed beside this Python")
    rank = tmp_path / "rank.sh"
    rank.write_text(f'echo rank $PMI_RANK $({_NODE_OF_PROXY}) "$1"\n', encoding="utf-8")
    run = spec(f"{mpiexec} -n 2 -hosts n3,n1 bash {rank} 'a  b'", ("n3", "n1"))
    status = wait(real, real.submit(run), BackendState.FINISHED)
    assert sorted(line for line in output(run) if line.startswith("rank")) == ["rank 0 n3 a  b", "rank 1 n1 a  b"]
    assert status.exit_code == 0


def test_a_key_is_submitted_once_even_when_the_answer_is_lost(real: SlurmBackend, spec: SpecMaker) -> None:
    run = spec("sleep 60")
    first = real.submit(run)
    assert real.submit(run) == first
    assert SlurmBackend(SlurmCommands(timeout=20)).submit(run) == first

    class Lossy(SlurmCommands):
        def ask(self, argv, *, stdin=None, timeout=None):  # type: ignore[no-untyped-def]
            super().ask(argv, stdin=stdin, timeout=timeout)
            raise BackendError("sbatch gave no answer.")

    lost = spec("sleep 60")
    with pytest.raises(BackendError, match="no answer"):
        SlurmBackend(SlurmCommands(timeout=20), Lossy(timeout=20)).submit(lost)
    assert real.submit(lost) == real.find(lost.key)
    assert real.poll([lost.key])[lost.key].state in (BackendState.PENDING, BackendState.RUNNING)


def test_a_cancelled_run_ends_and_cancelling_it_again_does_nothing(real: SlurmBackend, spec: SpecMaker) -> None:
    run = spec("trap 'exit 143' TERM; echo ready; sleep 60 & wait")
    run_id = real.submit(run)
    wait(real, run_id, BackendState.RUNNING)
    log = Path(run.run_dir, "output.log")
    wait_for(lambda: log.exists() and "ready" in log.read_text(), "the script to heed signals")
    real.cancel(run_id)
    status = wait(real, run_id, BackendState.FINISHED)
    assert status.cause is Code.JOB_CANCELLED
    assert status.exit_code in (143, None)  # slurmd may tell that all is over before it tells the script's code
    real.cancel(run_id)
    real.cancel("99999")


def test_a_held_run_says_so_and_runs_when_it_is_released(real: SlurmBackend, spec: SpecMaker) -> None:
    run_id = real.submit(spec("true"), SlurmOptions(hold=True))
    assert message(real.poll([run_id])[run_id].reason) == "It is held by its owner. Release it to let it run."
    assert not real.pending([run_id])[run_id].can_start
    real.queue.release(run_id)
    assert wait(real, run_id, BackendState.FINISHED).exit_code == 0


def test_a_waiting_run_can_be_held(real: SlurmBackend, spec: SpecMaker) -> None:
    busy = real.submit(spec("sleep 60", ("n1",)), SlurmOptions(exclusive=True))
    wait(real, busy, BackendState.RUNNING)
    waiting = real.submit(spec("true", ("n1",)), SlurmOptions(exclusive=True))
    real.queue.hold(waiting)
    assert "held" in message(real.poll([waiting])[waiting].reason)


@pytest.mark.parametrize(("body", "code", "signum"), [("exit 7", 7, None), ("kill -9 $$", None, 9)])
def test_exit_codes_and_signals_are_told_apart(
    real: SlurmBackend, spec: SpecMaker, body: str, code: int | None, signum: int | None
) -> None:
    status = wait(real, real.submit(spec(body)), BackendState.FINISHED)
    assert (status.exit_code, status.signal) == (code, signum)
    assert status.started_at is not None
    assert status.ended_at is not None
    assert abs(status.ended_at - time.time()) < 60


def test_a_run_that_asks_for_too_much_says_why_it_waits(real: SlurmBackend, spec: SpecMaker) -> None:
    waiting = real.submit(spec("true", time_limit=2 * 3600))
    why = real.pending([waiting])[waiting]
    assert why.reason in ("PartitionTimeLimit", "PartitionConfig")
    assert not why.can_start
    assert "hoose another partition." in message(real.poll([waiting])[waiting].reason)
    with pytest.raises(RefusedError, match=r"sbatch refused.*node"):
        real.submit(spec("true", ("n9",)))
    with pytest.raises(RefusedError, match="sbatch refused"):
        real.submit(spec("true"), SlurmOptions(memory=2**40))


def test_the_expected_start_is_known_before_anything_is_submitted(real: SlurmBackend, spec: SpecMaker) -> None:
    whole = SlurmOptions(exclusive=True)
    busy = real.submit(spec("sleep 60", ("n1",), time_limit=600), whole)
    wait(real, busy, BackendState.RUNNING)
    on_busy, on_free = spec("true", ("n1",), time_limit=60), spec("true", ("n3",), time_limit=60)
    later, now = real.forecast.expected_start(on_busy, whole), real.forecast.expected_start(on_free, whole)
    assert now is not None
    assert later is not None
    assert later > now + 300
    assert real.find(on_free.key) is None
    with pytest.raises(RefusedError):
        real.forecast.expected_start(spec("true", ("n9",)))


def test_signals_reach_the_batch_script(real: SlurmBackend, spec: SpecMaker) -> None:
    run = spec("trap 'echo checkpoint; exit 0' USR1; sleep 60 & touch ready; wait")
    run_id = real.submit(run)
    wait(real, run_id, BackendState.RUNNING)
    while not Path(run.run_dir, "ready").exists():
        time.sleep(0.05)
    real.signal(run_id, signal.SIGUSR1)
    assert wait(real, run_id, BackendState.FINISHED).exit_code == 0
    assert "checkpoint" in output(run)


def test_a_requeued_run_waits_again_under_its_own_id(real: SlurmBackend, spec: SpecMaker) -> None:
    run_id = real.submit(spec("sleep 60"), SlurmOptions(requeue=True))
    wait(real, run_id, BackendState.RUNNING)
    real.queue.requeue(run_id)
    assert wait(real, run_id, BackendState.PENDING).reason
    details = real.details(run_id)
    assert details is not None
    assert details.restarts == 1


def test_the_job_sees_nothing_of_the_portals_secrets(
    real: SlurmBackend, spec: SpecMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIDPORTAL_SECRET", "swordfish")
    monkeypatch.setenv("SBATCH_WAIT", "1")
    run = spec("env")
    wait(real, real.submit(run), BackendState.FINISHED)
    assert not [line for line in output(run) if "swordfish" in line or line.startswith(("LC_ALL", "SLURM_TIME_FORMAT"))]


def test_nodes_partitions_and_reservations_come_from_slurm(real: SlurmBackend, private_slurm: PrivateSlurm) -> None:
    assert [node.name for node in real.nodes()] == ["n1", "n2", "n3"]
    private_slurm.command("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=bad State=IDLE disk")
    private_slurm.command(
        "scontrol",
        "create",
        "reservation",
        "ReservationName=course",
        "Users=root",
        "Nodes=n[1,3]",
        "StartTime=now+1hour",
        "Duration=60",
    )
    try:
        drained = real.describe_nodes()[2]
        assert ("DRAIN" in drained.flags, drained.usable) == (True, False)
        assert drained.features == ("large",)
        assert [r.name for r in real.reservations()] == ["course"]
        assert expand(real.reservations()[0].nodes) == ["n1", "n3"]
    finally:
        private_slurm.command("scontrol", "update", "NodeName=n3", "State=RESUME")
        private_slurm.command("scontrol", "delete", "ReservationName=course")
    assert [(p.name, p.default, p.max_time) for p in real.partitions()] == [("main", True, 3600), ("tiny", False, 60)]
    assert real.cluster().version[:2] >= (22, 5)
    assert not real.cluster().accounting


def test_json_answers_say_the_same_as_text(real: SlurmBackend, spec: SpecMaker) -> None:
    run_id = real.submit(spec("exit 3"))
    in_text = wait(real, run_id, BackendState.FINISHED)
    in_json = SlurmBackend(SlurmCommands(timeout=20), answers="json")
    assert in_json.poll([run_id])[run_id] == in_text
    keep = ("name", "hostname", "address", "cpus", "memory", "features", "partitions")
    both = [[[getattr(node, k) for k in keep] for node in b.describe_nodes()] for b in (real, in_json)]
    assert both[0] == both[1]


@pytest.mark.parametrize("text", ["n[1-3,7],m[01-02]", "a[1-2]b[3-4]", "rack[9-11]", "x,y[2],z[008-010]"])
def test_host_lists_expand_as_slurm_expands_them(private_slurm: PrivateSlurm, text: str) -> None:
    assert expand(text) == private_slurm.command("scontrol", "show", "hostnames", text).split()


def test_a_controller_and_a_munge_that_are_down_are_told_apart(
    real: SlurmBackend, private_slurm: PrivateSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = private_slurm.conf.read_text(encoding="utf-8")
    for broken, said in [
        (text.replace("/munge.sock", "/none.sock"), "munged"),
        (text.replace("SlurmctldPort=", "SlurmctldPort=1 #"), "slurmctld"),
    ]:
        conf = tmp_path / "slurm.conf"
        conf.write_text(broken, encoding="utf-8")
        monkeypatch.setenv("SLURM_CONF", str(conf))
        with pytest.raises(BackendError, match=said):
            real.poll(["1"])


def test_a_run_over_its_time_limit_is_told_from_a_failed_one(real: SlurmBackend, overdue: str) -> None:
    status = wait(real, overdue, BackendState.FINISHED)
    assert status.cause is Code.TIMED_OUT
    assert status.exit_code != 0
