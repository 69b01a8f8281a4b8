"""`gridportal doctor`: what this machine can do, and for everything else the command that mends it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, GridPortalError, InputError, ShellError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo

if TYPE_CHECKING:
    from gridportal.slurm.examination import Answer

State = Literal["yes", "partly", "no", "unneeded"]
_MARKS = {
    "yes": Text("✓", "green"),
    "partly": Text("~", "yellow"),
    "no": Text("✗", "red"),
    "unneeded": Text("–", "dim"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One ability of the machine: whether it is there, what was seen, and what to do when it is not."""

    topic: str
    state: State
    seen: str
    advice: str = ""


def report(*, as_json: bool) -> int:
    """Print every finding; exit code 1 only when programs cannot run at all (no Python, no MPI)."""
    found = examine()
    if as_json:
        import json

        echo(json.dumps({"findings": [asdict(finding) for finding in found]}, indent=2))
    else:
        _show(found)
    return 1 if any(f.state == "no" and f.topic in ("python", "mpi") for f in found) else 0


def examine() -> list[Finding]:
    """Every check, in the order of what the portal needs first."""
    checks: tuple[Callable[[], Finding], ...] = (
        _python,
        _mpi,
        _namespaces,
        _shaping,
        _cgroups,
        _running_grid,
        _broker,
        _database,
        _compiler,
        _browser,
        _slurm,
    )
    return [check() for check in checks] + _plugins() + _clusters()


def _show(found: list[Finding]) -> None:
    columns = (
        Column(""),
        Column("Can do", wraps=True),
        Column("Seen", wraps=True),
        Column("What to do", wraps=True),
    )
    show_table(columns, [(_MARKS[each.state], each.topic, each.seen, each.advice) for each in found])


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", "yes", version)


def _mpi() -> Finding:
    mpiexec = Path(sys.executable).with_name("mpiexec")
    try:
        seen = f"mpich {version('mpich')}, mpi4py {version('mpi4py')}"
    except PackageNotFoundError as error:
        return Finding("mpi", "no", f"{error.name} is not installed", 'pip install "gridportal[runtime]"')
    code = "from mpi4py import MPI; import sys; sys.exit(MPI.COMM_WORLD.size != 2)"
    try:
        shell.run([str(mpiexec), "-n", "2", sys.executable, "-c", code], timeout=30)
    except ShellError as error:
        return Finding("mpi", "no", f"{seen}; two ranks did not start: {error}", "reinstall mpich and mpi4py with pip")
    return Finding("mpi", "yes", f"{seen}; two ranks started")


def _namespaces() -> Finding:
    from gridportal.testbed import machine

    mode, warning = machine.choose()
    if warning is None:
        return Finding("emulated Grid", "yes", f"namespaces as {mode}")
    return Finding("emulated Grid", "partly", warning, _way_to_namespaces())


def _way_to_namespaces() -> str:
    """What gives this person, here, a Grid that is shaped."""
    if os.environ.get("GRIDPORTAL_TESTBED_MODE") == "unshaped":
        return "unset GRIDPORTAL_TESTBED_MODE, which asks for this"
    if os.geteuid() == 0:
        return "root here lacks rights: a container needs the capabilities SYS_ADMIN and NET_ADMIN (or --privileged)"
    return "run as root, or: sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"


def _running_grid() -> Finding:
    """What the Grid that is up found when it tested its own links."""
    from gridportal.serve.listing import read_settings
    from gridportal.testbed.client import Grid

    grid = Grid(read_settings().grid_state_dir)
    try:
        status = grid.status()
    except BackendError:
        advice = "not needed: make demo brings its own; by hand: gridportal testbed up crossbar10"
        return Finding("Grid that is up", "unneeded", f"none in {grid.directory}", advice)
    test = status["self_test"]
    seen = f"{status['topology']}, {status['mode']}; self test {test['state']}: {test['message']}"
    seen += f" {status['isolation']['message']}"
    if status["warning"]:
        return Finding("Grid that is up", "partly", f"{seen} {status['warning']}".strip(), "see emulated Grid above")
    if test["state"] != "passed":
        return Finding("Grid that is up", "partly", seen, "gridportal testbed status shows the measured links")
    return Finding("Grid that is up", "yes", seen)


def _shaping() -> Finding:
    from gridportal.testbed import machine

    missing = machine.missing_tools()
    if missing:
        return Finding("shaped links", "no", f"missing: {', '.join(missing)}", "apt-get install iproute2 util-linux")
    problem = machine.shaping_problem()
    if problem:
        return Finding("shaped links", "no", problem, "load the kernel modules sch_tbf, sch_htb and cls_u32")
    return Finding("shaped links", "yes", "tbf, htb and u32 work in a namespace")


def _cgroups() -> Finding:
    from gridportal.testbed import machine

    place = machine.cpu_cgroup()
    if place:
        return Finding("node speeds", "yes", f"cpu cgroup {place} is writable")
    advice = "run as root" if os.geteuid() else "mount /sys/fs/cgroup writable (a container: --privileged)"
    return Finding("node speeds", "partly", "no writable cpu cgroup: all nodes run at full speed", advice)


def _broker() -> Finding:
    from gridportal.serve.broker import server_binary

    if os.environ.get("REDIS_URL"):
        return Finding("broker", "yes", "REDIS_URL is set")
    binary = server_binary()
    if binary:
        return Finding("broker", "yes", Path(binary).name)
    return Finding("broker", "partly", "none: tasks go through files", "apt-get install redis-server")


def _database() -> Finding:
    if os.environ.get("DATABASE_URL"):
        return Finding("database", "yes", "DATABASE_URL is set")
    return Finding("database", "yes", "SQLite", "for production: make serve, or set DATABASE_URL")


def _compiler() -> Finding:
    if shutil.which("gcc"):
        first = shell.run(["gcc", "--version"], timeout=10).stdout.splitlines()[0]
        return Finding("compiler", "yes", first)
    return Finding("compiler", "no", "no gcc", "apt-get install gcc")


def _browser() -> Finding:
    program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    if program:
        return Finding("browser tests", "yes", Path(program).name)
    return Finding("browser tests", "no", "no Chromium", "apt-get install chromium-headless-shell")


def _slurm() -> Finding:
    if not shutil.which("sinfo"):
        return Finding("slurm", "unneeded", "no Slurm commands", "not needed: jobs run on the emulated Grid")
    try:
        seen = shell.run(["sinfo", "--version"], timeout=10).stdout.strip()
    except GridPortalError as error:
        if not _has_slurm_cluster():
            return Finding("slurm", "unneeded", str(error), "not needed: no cluster in GRIDPORTAL_CLUSTERS is a Slurm")
        return Finding("slurm", "no", str(error), "check slurm.conf and munge")
    return Finding("slurm", "yes", seen, "to run jobs on it set GRIDPORTAL_CLUSTERS; see docs/administrator.md")


def _plugins() -> list[Finding]:
    """Mappers and performance models; partly where a name is not clear."""
    from gridportal.serve.doctor_plugins import GROUPS, plugins

    findings = []
    for topic in GROUPS:
        names, shared = plugins(topic)
        seen = "; ".join([", ".join(names) or "none", *shared])
        advice = "give the plug-in that is not used another name in its package" if shared else ""
        findings.append(Finding(topic, "partly" if shared else "yes", seen, advice))
    return findings


def _has_slurm_cluster() -> bool:
    """Whether a cluster of the setting is a Slurm; a setting that cannot be read has its own finding."""
    from gridportal.serve.doctor_clusters import examined_clusters, is_slurm
    from gridportal.serve.listing import read_settings

    try:
        return any(map(is_slurm, examined_clusters(read_settings())))
    except InputError:
        return False


def _clusters() -> list[Finding]:
    """One finding for each cluster of the setting that is no Grid."""
    from gridportal.serve.doctor_clusters import answers, examined_clusters
    from gridportal.serve.listing import read_settings

    try:
        settings = read_settings()
        configured = examined_clusters(settings)
    except InputError as error:
        return [Finding("clusters", "no", str(error), "mend the setting; see docs/administrator.md")]
    return [_cluster(cluster.name, list(answers(cluster, settings))) for cluster in configured]


def _cluster(name: str, found: list[Answer]) -> Finding:
    ill = [answer.message.rstrip(".") for answer in found if not answer.well]
    well = [answer.message for answer in found if answer.well]
    state: State = "yes" if not ill else "partly" if well else "no"
    return Finding(f"cluster {name}", state, "; ".join(well) or "no answer", "; ".join(ill))
