"""Brings a Grid up and takes it down, from outside; cleans up what a crash has left first."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.base.portal_settings import PortalSettings
from gridportal.network import topology_files
from gridportal.testbed import cgroups, grid_status, gridd_requests, kernel, leftovers, machine, topologies, watchdog
from gridportal.testbed.layout import plan
from gridportal.testbed.sandbox.job_rules import JobRules
from gridportal.testbed.slurm import place
from gridportal.testbed.state import State, write_atomically

Slurm = Literal["", "slurm", "accounting"]
_CHECKOUT = Path(__file__).resolve().parents[2]


def up(
    name_or_path: str | Path,
    state_dir: str | Path,
    *,
    mode: str | None = None,
    with_parent: bool = False,
    timeout: float = 60.0,
    slurm: Slurm = "",
) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    """Bring a Grid up and test it; its outermost process and its status.

    With `with_parent` everything ends when the calling process does, by whatever means; else the Grid stays.
    `slurm` asks for a real Slurm on its nodes ("accounting": with slurmdbd and a database); root only.
    Where the kernel does not permit it, and only there, it comes up unshaped with a warning in its status, unless a
    mode or Slurm was asked for. Raises InputError for a bad topology, BackendError when one is up already or it cannot
    be built.
    """
    file = topologies.find(name_or_path).resolve()
    plan(topology_files.load(file))
    state = State(state_dir)
    _refuse_second(state)
    clean(state)
    cgroups.sweep(lambda other: _living(other) is not None)
    place.remove(state)
    chosen, warning = machine.choose(mode)
    if slurm:
        place.check(chosen, accounting=slurm == "accounting")
    try:
        process = _start(state, file, chosen, warning, slurm, with_parent=with_parent)
        return process, _wait_until_tested(state, process, timeout)
    except BackendError as error:
        clean(state)
        if chosen == "unshaped" or mode or slurm or not machine.is_refusal(str(error)):
            raise
        process = _start(state, file, "unshaped", machine.warning(str(error)), with_parent=with_parent)
        return process, _wait_until_tested(state, process, timeout)


def down(state: State) -> None:
    """Take the Grid of a state directory down; returns when its last process is gone."""
    with contextlib.suppress(BackendError):
        gridd_requests.ask(state, "down", timeout=2.0)
        _wait_until_gone(state, 3.0)
    clean(state)
    place.remove(state)


def clean(state: State) -> None:
    """End what is left of an earlier Grid, and remove its socket, record and control groups."""
    if not state.root.exists():
        return
    with state.exclusive():
        if pid := _living(state):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _wait_until_gone(state, 5.0)
        watchdog.end_grid(str(state.root))
        cgroups.remove(state)
        state.forget()


def _refuse_second(state: State) -> None:
    try:
        name = gridd_requests.ask(state, "status")["topology"]
    except BackendError:
        return
    raise BackendError(f"A Grid ({name}) is up in {state.root} already; take it down first: gridportal testbed down.")


def _start(
    state: State, file: Path, mode: str, warning: str | None, slurm: Slurm = "", *, with_parent: bool
) -> subprocess.Popen[bytes]:
    state.prepare()
    JobRules.of(PortalSettings()).keep(state)
    (state.root / "failure.json").unlink(missing_ok=True)
    address = state.new_socket()
    argv = [*machine.prefix(mode), sys.executable, "-m", "gridportal.testbed.gridd"]
    argv += [str(state.root), str(file), mode, address, slurm]
    env = {"PATH": machine.tool_path(), "PYTHONPATH": _python_path()}
    lives, living = os.pipe()
    with state.log.open("ab") as log, os.fdopen(lives, "rb"), os.fdopen(living, "wb"):
        if with_parent:
            process = shell.start(argv, stdout=log.fileno(), stderr=log.fileno(), env=env, cwd="/", keep=[living])
        else:
            process = _detached(argv, log.fileno(), env, keep=living)
        if slurm:
            place.prepare(state, process.pid)
        record = {
            "pid": process.pid,
            "start_time": kernel.start_time(process.pid),
            "socket": address,
            "topology": str(file),
            "mode": mode,
            "warning": warning,
        }
        write_atomically(state.record_file, record)
        leftovers.watch(state, record, lives)
    return process


def _detached(argv: list[str], log: int, env: dict[str, str], keep: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **env},
            cwd="/",
            start_new_session=True,
            preexec_fn=shell.reset_signals,
            pass_fds=[keep],
        )
    except OSError as error:
        raise BackendError(f"The Grid could not be started: {argv[0]}: {error.strerror}.") from error


def _wait_until_tested(state: State, process: subprocess.Popen[bytes], timeout: float) -> dict[str, Any]:
    end = time.monotonic() + timeout
    failure = f"The Grid was not up within {timeout:g} s; its log is {state.log}."
    pause = 0.03
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BackendError(_why_it_ended(state))
        with contextlib.suppress(BackendError):
            status = grid_status.of(state)
            if (status["slurm"] or {}).get("state") == "failed":
                failure = str(status["slurm"]["message"])
                break
            if status["self_test"]["state"] != "pending":
                return status
        time.sleep(pause)  # a Slurm takes seconds, and each look some of the processor that it waits for
        pause = min(1.2 * pause, 0.2)
    raise BackendError(failure)


def _why_it_ended(state: State) -> str:
    with contextlib.suppress(OSError, ValueError):
        return str(json.loads((state.root / "failure.json").read_text(encoding="utf-8"))["error"])
    with contextlib.suppress(OSError, IndexError):
        last = state.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1]
        return f"The Grid could not be built: {last}"
    return f"The Grid ended while it was being built; its log is {state.log}."


def _living(state: State) -> int | None:
    """The outermost process of the recorded Grid, when it is still the same one."""
    record = state.record() or {}
    pid, begun = record.get("pid"), record.get("start_time")
    if not isinstance(pid, int) or begun is None or kernel.start_time(pid) != begun:
        return None
    fields = kernel.stat_fields(pid)
    return None if fields is None or fields[0] in "ZX" else pid


def _wait_until_gone(state: State, seconds: float) -> None:
    end = time.monotonic() + seconds
    while _living(state) and time.monotonic() < end:
        time.sleep(0.01)


def _python_path() -> str:
    """Where the daemon finds this package when it is not installed."""
    given = os.environ.get("PYTHONPATH")
    return f"{_CHECKOUT}:{given}" if given else str(_CHECKOUT)
