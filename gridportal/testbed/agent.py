"""What runs inside a node: it holds the node's namespaces and sends and receives measured transfers.

Forked from gridd, never executed: ten of them start in a few milliseconds and share their memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass

from gridportal.runtime import transfer
from gridportal.testbed import kernel, network
from gridportal.testbed.state import State


@dataclass(frozen=True, slots=True)
class Member:
    """A process that holds a compute node or a router; `control` speaks JSON lines, `port` takes transfers."""

    name: str
    pid: int
    control: socket.socket
    port: int


def start(name: str, state: State, *, router: bool, shaped: bool) -> Member:
    """Fork a holder and wait until its namespaces stand. OSError when the kernel does not permit one."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _live(name, state, theirs, router=router, shaped=shaped)
    theirs.close()
    answer = ours.makefile("r").readline()
    ready = json.loads(answer or '{"error": "it ended"}')
    if "error" in ready:
        raise OSError(f"node {name} could not be started: {ready['error']}")
    return Member(name, pid, ours, ready["port"])


def _live(name: str, state: State, control: socket.socket, *, router: bool, shaped: bool) -> None:
    """The whole life of the forked process; never returns."""
    code = 1
    try:
        _reset()
        if shaped:
            _isolate(name, state, router=router)
        port = 0
        if not router:
            listener = transfer.listen("" if shaped else "127.0.0.1")
            port = listener.getsockname()[1]
            transfer.serve_in_background(listener)
        _answer(control, {"port": port})
        for line in control.makefile("r"):
            order = json.loads(line)
            _answer(control, {**_obey(order), "number": order["number"]})
        code = 0
    except OSError as error:
        with contextlib.suppress(OSError):
            _answer(control, {"error": str(error)})
    finally:
        os._exit(code)


def _reset() -> None:
    kernel.die_with_parent(signal.SIGKILL)
    os.setsid()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(signum, signal.SIG_DFL)
    # Measuring must not wait behind the programs that it measures; an ordinary user may not ask for that.
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)


def _isolate(name: str, state: State, *, router: bool) -> None:
    kernel.unshare(kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS | kernel.CLONE_NEWNS)
    socket.sethostname(name)
    network.prepare_space(forward=router)
    if router:
        return
    own = state.node(name) / "scratch"
    own.mkdir(parents=True, exist_ok=True)
    kernel.mount(str(own), str(state.scratch), None, kernel.MS_BIND)
    kernel.mount(str(state.hosts), "/etc/hosts", None, kernel.MS_BIND)
    kernel.mount("tmpfs", "/dev/shm", "tmpfs")  # noqa: S108
    _show_own_devices()


def _show_own_devices() -> None:
    """Mount a /sys that lists this node's devices (UCX looks there), with the control groups where they were."""
    cgroups = os.open("/sys/fs/cgroup", os.O_PATH)
    # A container may hide parts of /sys and refuse a new one; then the host's list of devices has to do.
    with contextlib.suppress(OSError):
        kernel.mount("sysfs", "/sys", "sysfs")
        kernel.mount(f"/proc/self/fd/{cgroups}", "/sys/fs/cgroup", None, kernel.MS_BIND | kernel.MS_REC)
    os.close(cgroups)


def _obey(order: dict[str, float | str]) -> dict[str, float | str]:
    try:
        return dict(
            transfer.send(str(order["address"]), int(order["port"]), int(order["size"]), float(order["seconds"]))
        )
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def _answer(control: socket.socket, document: Mapping[str, float | str]) -> None:
    control.sendall(json.dumps(document).encode() + b"\n")
