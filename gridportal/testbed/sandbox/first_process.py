"""The first process of a run: makes its view of each node, starts its script, lets its launcher start the ranks.

It keeps its rights, for it enters nodes; nothing of the run can signal or trace it. It reads what programs send with
suspicion: whatever comes in through the door, only this run may suffer from it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gridportal.testbed import cgroups, kernel
from gridportal.testbed.sandbox import door, keyring, privileges, view
from gridportal.testbed.sandbox.order import ONE, Order

_OWN = ("ipc", "mnt")
_OF_NODES = ("net", "uts")
_GRACE = 1.0  # seconds between TERM and KILL for what a launcher has left behind
_MOST_CONNECTIONS = 2048
_MOST_WAITING = 64 * 2**20  # bytes of requests that are not complete
_LARGE = 2**16
_PER_CONNECTION = 4  # descriptors: the socket, and three that come with a request
_NEVER = 127 << 8
_NO_NODE = ("/bin/sh", "-c", """printf '%s is not a node of this run.\\n' "$1" >&2; exit 255""", "enter-node")


@dataclass(slots=True)
class _Launcher:
    """A launcher that is connected: what it asks for, and the process that it got."""

    connection: socket.socket
    request: door.Request = field(default_factory=door.Request)
    pid: int | None = None


class FirstProcess:
    """`live` is its whole life: the wait status of the run's script, and why it was not started or ''."""

    def __init__(self, order: Order, output: int, control: int) -> None:
        self._order, self._output, self._control = order, output, control
        self._hidden = {*order.hidden, *view.impassable(order.shown, order.identity)}
        self._cells: dict[str, Mapping[str, int]] = {}
        self._launchers: dict[int, _Launcher] = {}
        shaped = any(place.namespaces for place in order.places.values())
        self._kinds = (*(_OF_NODES if shaped else ()), *_OWN)
        self._late: list[tuple[float, int]] = []
        self._selector = selectors.DefaultSelector()

    def live(self) -> tuple[int, str]:
        """Start everything and serve until the script ends."""
        kernel.close_to_others()
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self._most_connections = min(_MOST_CONNECTIONS, most // 2 // _PER_CONNECTION)
        keyring.join_own()
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
        kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        self._home = kernel.open_namespaces("self", self._kinds)
        privileges.bound()
        self._nothing = os.open(os.devnull, os.O_RDWR)
        listener = door.listen(self._order.door)
        reading, writing = os.pipe()
        for each in (reading, writing):
            os.set_blocking(each, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ, self._obey)
        self._selector.register(reading, selectors.EVENT_READ, lambda: os.read(reading, 4096))
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener))
        self._script, error = self._start_script()
        status = _NEVER if error else self._serve(self._script)
        self._end_all()
        return status, error

    def _serve(self, script: int) -> int:
        to_prepare = iter(self._order.places)  # while nobody asks for anything, the next node is made ready
        node: str | None = ""
        while True:
            events = self._selector.select(self._patience() if node is None else 0.0)
            for key, _ in events:
                key.data()
            self._kill_late()
            if not events and (node := next(to_prepare, None)):
                self._cell(node)
            status = self._reap(script)
            if status is not None:
                return status

    def _end_all(self) -> None:
        """So that the end can be told before the kernel has taken the views away, which takes it long."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(-1, signal.SIGKILL)
            while True:
                os.waitpid(-1, 0)

    def _patience(self) -> float | None:
        return max(0.0, min(self._late)[0] - time.monotonic()) if self._late else None

    def _obey(self) -> None:
        """A signal for all processes of the run, or for its script; without a daemon there is no run either."""
        orders = os.read(self._control, 64)
        for order in orders or [signal.SIGKILL]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._script if order & ONE else -1, order & ~ONE)
        if not orders:
            os._exit(1)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            if len(self._launchers) >= self._most_connections:
                connection.close()
                return
            connection.setblocking(False)
            launcher = _Launcher(connection)
            self._launchers[connection.fileno()] = launcher
            self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(launcher))

    def _hear(self, launcher: _Launcher) -> None:
        """More of a request, or the end of a launcher; with it ends what it has started."""
        try:
            connected = launcher.request.read(launcher.connection)
            if connected and launcher.pid is None and launcher.request.ready:
                self._start_for(launcher)
            elif self._holds_too_much(launcher):
                connected = False
        except BlockingIOError:
            return
        except (door.NoRequestError, OSError):
            connected = False
        if not connected:
            self._forget(launcher)

    def _holds_too_much(self, launcher: _Launcher) -> bool:
        """Whether what this process keeps for launchers has no bound any more; looked at where one is large."""
        sizes = (len(each.request.data) for each in self._launchers.values())
        return len(launcher.request.data) > _LARGE and sum(sizes) > _MOST_WAITING

    def _start_for(self, launcher: _Launcher) -> None:
        node, command, environment = launcher.request.parse()
        streams = launcher.request.descriptors
        argv = ["/bin/sh", "-c", command]
        if node not in self._order.places:  # nothing of the run's is ever written by this process, which has rights
            node, argv = next(iter(self._order.places)), [*_NO_NODE, node]
        environment["GRIDPORTAL_NODE"] = node
        launcher.pid = self._start(node, argv, environment, streams, failure=streams[2])
        launcher.request.close()
        launcher.request.data.clear()

    def _forget(self, launcher: _Launcher) -> None:
        number = launcher.connection.fileno()
        if self._launchers.pop(number, None) is None:
            return
        self._selector.unregister(launcher.connection)
        launcher.connection.close()
        launcher.request.close()
        if launcher.pid is not None:
            self._send(launcher.pid, signal.SIGTERM)
            self._late.append((time.monotonic() + _GRACE, launcher.pid))

    def _answer(self, launcher: _Launcher, code: int) -> None:
        with contextlib.suppress(OSError):
            launcher.connection.send(str(code).encode())
        launcher.pid = None
        self._forget(launcher)

    def _kill_late(self) -> None:
        now = time.monotonic()
        for _, pid in [each for each in self._late if each[0] <= now]:
            self._send(pid, signal.SIGKILL)
        self._late = [each for each in self._late if each[0] > now]

    def _send(self, group: int, signum: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signum)

    def _reap(self, script: int) -> int | None:
        """Collect all that have ended, orphans too; the script's wait status when it is among them."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == script:
                    return status
                if pid == 0:
                    return None
                for launcher in [each for each in self._launchers.values() if each.pid == pid]:
                    code = os.waitstatus_to_exitcode(status)
                    self._answer(launcher, code if code >= 0 else 128 - code)
        return None

    def _start_script(self) -> tuple[int, str]:
        """The script's process, and why it could not be executed or ''."""
        order = self._order
        node = next(iter(order.places))
        environment = {**order.env, "GRIDPORTAL_NODE": node}
        reading, writing = os.pipe()
        streams = (self._nothing, self._output, self._output)
        pid = self._start(node, order.argv, environment, streams, failure=writing)
        os.close(writing)
        with open(reading, "rb") as failure:
            return pid, failure.read().decode(errors="replace").strip()

    def _start(
        self, node: str, argv: Sequence[str], environment: Mapping[str, str], streams: Sequence[int], failure: int
    ) -> int:
        """A program of the run on `node`; why it could not be executed is written to `failure`."""
        cell = self._cell(node)
        pid = os.fork()
        if pid == 0:
            self._become(node, cell, argv, environment, streams, failure)
        return pid

    def _become(
        self,
        node: str,
        cell: Mapping[str, int],
        argv: Sequence[str],
        environment: Mapping[str, str],
        streams: Sequence[int],
        failure: int,
    ) -> None:
        """What the forked process does; it never returns. It says something only once it has no more rights."""
        dropped = False
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            for group in self._order.places[node].groups:
                with contextlib.suppress(OSError):
                    cgroups.join(group)
            kernel.enter(cell)
            privileges.drop(self._order.identity, self._order.limits)
            dropped = True
            os.chdir(self._order.folder)
            os.execvpe(argv[0], list(argv), dict(environment))  # noqa: S606
        except BaseException as error:  # noqa: BLE001 (none may return into the first process's loop)
            if not dropped:
                privileges.drop(self._order.identity, self._order.limits)
            os.write(failure, f"{argv[0]} could not be started on {node}: {error}.\n".encode(errors="replace"))
        finally:
            os._exit(127)

    def _cell(self, node: str) -> Mapping[str, int]:
        """The namespaces of the run on `node`, made when they are first needed."""
        if node in self._cells:
            return self._cells[node]
        order, place = self._order, self._order.places[node]
        try:
            kernel.enter(place.namespaces)
            kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
            view.build(self._hidden, (*order.shown, *place.shown), order.limits.memory_files)
            self._cells[node] = kernel.open_namespaces("self", self._kinds)
        finally:
            kernel.enter(self._home)
        return self._cells[node]
