"""The agent of one node: `python -m gridportal.runtime.agent --node n1 --listen 0.0.0.0:7780 --key-file FILE`.

It needs nothing but Python's standard library. It ends with SIGTERM.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import signal
import socket
import stat
import sys

# OpenSSL takes a fifth of an agent's memory and is not needed: hashlib has SHA-256 of its own.
if "hashlib" not in sys.modules:
    sys.modules["_hashlib"] = None  # type: ignore[assignment]

from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.agent import keys, probes
from gridportal.runtime.agent.census import SCOPES, Census
from gridportal.runtime.agent.node import NodeState
from gridportal.runtime.agent.server import Answerer, Server
from gridportal.runtime.depot import depot_options

_DESCRIPTOR = "fd:"
_UNIX = "unix:"
_LONGEST_PATH = 100  # bytes that an address of a Unix socket may have, with room
_DEPOT_ENDED: list[int] = []


def main(argv: list[str]) -> int:
    """Serve until SIGTERM; 2 with one sentence where what is given cannot be used."""
    try:
        options = _options(argv)
        server = _prepared(options)
    except (GridPortalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: server.end())
    server.serve()
    if _DEPOT_ENDED:
        sys.stderr.write("The depot of this node has ended, and the agent ends with it, so that both start anew.\n")
    return int(bool(_DEPOT_ENDED))


def listener(address: str) -> socket.socket:
    """A socket that listens on HOST:PORT, unix:PATH, or fd:NUMBER as whoever started us has opened it."""
    if address.startswith(_DESCRIPTOR):
        return socket.socket(fileno=_number("listen", address.removeprefix(_DESCRIPTOR)))
    if address.startswith(_UNIX):
        return _unix(address.removeprefix(_UNIX))
    host, port = place("listen", address)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=64)


def place(field: str, text: str) -> tuple[str, int]:
    """HOST:PORT as its parts; [::1]:7780 for IPv6. InputError.

    >>> place("listen", "[::1]:7780")
    ('::1', 7780)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise InputError(field, text, "HOST:PORT or unix:PATH")
    return host.removeprefix("[").removesuffix("]"), _number(field, port)


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gridportal.runtime.agent", description="The telemetry agent of one node.")
    parser.add_argument("--node", default=socket.gethostname().partition(".")[0], help="name in the topology")
    parser.add_argument("--listen", default="0.0.0.0:7780", help="HOST:PORT, unix:PATH or fd:NUMBER")
    parser.add_argument("--probe", default="", help="HOST:PORT for probes of other agents; none without it")
    parser.add_argument(
        "--depot", default="", help="HOST:PORT of a depot for checkpoints, or fd:NUMBER; none without it"
    )
    depot_options.add(parser, "depot-")
    parser.add_argument("--key-file", help=f"file with the portal's key, mode 600; else ${keys.VARIABLE}")
    parser.add_argument("--cpus", type=int, default=len(os.sched_getaffinity(0)), help="processors of the node")
    parser.add_argument("--disk", default="/tmp", help="folder whose file system is reported")  # noqa: S108
    parser.add_argument("--scope", choices=SCOPES, default="machine", help="whose processes are this node's")
    parser.add_argument("--ignore", type=int, action="append", default=[], help="a process that does not count")
    parser.add_argument("--nice", type=int, default=0, help="priority, where it may be had")
    options = parser.parse_args(argv)
    if options.cpus < 1:
        raise InputError("cpus", options.cpus, "a whole number from 1")
    return options


def _prepared(options: argparse.Namespace) -> Server:
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, options.nice)
    key = keys.read(options.key_file)
    listeners = [listener(options.listen)]
    depot, depot_pid = _depot(options, key) if options.depot else (None, ())
    census = Census(options.scope, (*options.ignore, *depot_pid))
    is_machine = options.scope == "machine"
    state = NodeState(options.node, census, cpus=options.cpus, disk=options.disk, has_ports=is_machine)
    target = probes.Target(key, *place("probe", options.probe)) if options.probe else None
    announced = {"probe": list(target.address) if target else None, "depot": list(depot) if depot else None}
    server = Server(
        listeners,
        key,
        options.node,
        report=lambda: {**state.report(), **announced},
        slow=_slow(options.node, key, depot),
        look=state.look,
    )
    if depot:
        signal.signal(signal.SIGCHLD, lambda *_: _end_with_depot(server))
        if not _depot_lives(depot_pid):  # it ended before this agent listened for its end
            _end_with_depot(server)
    return server


def _depot_lives(depot_pid: tuple[int, ...]) -> bool:
    """Whether no process of `depot_pid`, children of this one, has ended."""
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return all(os.waitid(os.P_PID, pid, look) is None for pid in depot_pid)


def _end_with_depot(server: Server) -> None:
    _DEPOT_ENDED.append(1)
    server.end()


def _slow(node: str, key: bytes, depot: tuple[str, int] | None) -> dict[str, Answerer]:
    """What takes its time, by what it is asked for as."""
    answerers: dict[str, Answerer] = {"probe": functools.partial(probes.probe, key)}
    if depot:
        from gridportal.runtime.agent import own_depot  # late: an agent without a depot is a megabyte smaller

        answerers["depot"] = functools.partial(own_depot.relay, key, node, depot)
    return answerers


def _depot(options: argparse.Namespace, key: bytes) -> tuple[tuple[str, int], tuple[int, ...]]:
    """Start the depot beside this agent: its address and process. Before there are threads. InputError, OSError."""
    from gridportal.runtime.agent import own_depot

    space = (options.depot_folder, options.depot_space, options.depot_job_space)
    door, store = depot_options.prepared(options.depot, *space)
    host, port = door.getsockname()[:2]
    return (host, port), (own_depot.start(door, key, options.node, store),)


def _unix(path: str) -> socket.socket:
    """The socket of an agent that is no more is replaced; anything else that is there is not."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            raise InputError("listen", path, "a path at which nothing is, or a socket")
        os.unlink(path)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old = os.umask(0o177)
    try:
        _bind(door, path)
    finally:
        os.umask(old)
    door.listen(64)
    return door


def _bind(door: socket.socket, path: str) -> None:
    """By way of the folder's descriptor where the path is longer than an address may be."""
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        door.bind(path)
        return
    folder = os.open(os.path.dirname(path) or ".", os.O_PATH | os.O_DIRECTORY)
    try:
        door.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


def _number(field: str, text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise InputError(field, text, "a number up to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
