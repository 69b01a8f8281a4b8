"""A Slurm of our own for tests: munged, slurmctld and three slurmd as plain processes on free loopback ports."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from gridportal.base import processes as shell

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun")
NODES = ("n1", "n2", "n3")
_SYSTEM = "/usr/local/sbin:/usr/sbin:/sbin"

_CONF = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.sock
CredType=cred/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool-%n
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd-%n.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmi2
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
ReturnToService=2
KillWait=2
SlurmdParameters=config_overrides
MessageTimeout=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=400 Feature=small State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 RealMemory=400 Feature=small State=UNKNOWN
NodeName=n3 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]} CPUs=4 RealMemory=400 Feature=large State=UNKNOWN
PartitionName=main Nodes=n[1-3] Default=YES DefMemPerNode=10 MaxTime=60 State=UP
PartitionName=tiny Nodes=n1 DefMemPerNode=10 MaxTime=1 State=UP
"""


def missing() -> str:
    """Why there can be no private Slurm here, or ""."""
    absent = [name for name in PROGRAMS if _which(name) is None]
    if absent:
        return f"{', '.join(absent)} not installed: apt-get install slurm-wlm munge"
    return "" if os.geteuid() == 0 else "a private Slurm is started by root only"


class PrivateSlurm:
    """`start` returns when all nodes are idle; `stop` ends every process that was started, by its own id."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.conf = home / "slurm.conf"
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Daemons in the foreground, so that they are our children and die with us."""
        ports = _free_ports(1 + len(NODES))
        host = socket.gethostname().split(".")[0]
        self.conf.write_text(_CONF.format(host=host, home=self.home, ports=ports), encoding="utf-8")
        for folder in ("state", *(f"spool-{node}" for node in NODES)):
            (self.home / folder).mkdir()
        key = self.home / "munge.key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o600)
        self._start(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self.home}/munge.sock",
            f"--pid-file={self.home}/munged.pid",
            f"--log-file={self.home}/munged.log",
            f"--seed-file={self.home}/munged.seed",
            "--num-threads=2",
        )
        _until((self.home / "munge.sock").exists, 60, "munged did not open its socket")
        self._start("slurmctld", "-D", "-c", "-f", str(self.conf))
        for node in NODES:
            self._start("slurmd", "-D", "-N", node, "-f", str(self.conf))
        _until(self._all_idle, 60, f"the nodes did not become idle; see {self.home}")

    def stop(self) -> None:
        """Cancel what runs, then end the daemons, the newest first."""
        if self.conf.exists() and len(self._processes) > 1:
            self.command("scancel", "--user=root")
            time.sleep(0.3)
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=10)

    def command(self, *argv: str) -> str:
        """The answer of a command of this Slurm, whatever its exit code."""
        env = {"SLURM_CONF": str(self.conf)}
        return shell.run(argv, timeout=60, check=False, env=env).stdout

    def _all_idle(self) -> bool:
        states = self.command("sinfo", "--noheader", "--Node", "--partition=main", "--format=%T").split()
        return states == ["idle"] * len(NODES)

    def _start(self, name: str, *argv: str) -> None:
        with (self.home / f"{name}.out").open("ab") as out:
            program = _which(name) or name
            env = {"SLURM_CONF": str(self.conf)}
            self._processes.append(shell.start([program, *argv], stdout=out.fileno(), stderr=out.fileno(), env=env))


def _which(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=_SYSTEM)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _until(true: Callable[[], bool], seconds: float, otherwise: str) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, otherwise
        time.sleep(0.1)
