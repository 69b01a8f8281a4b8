"""gridd, the Grid's daemon: the first process of its PID namespace, so that with it everything in the Grid ends.

Started by `launch.py` as `python -m gridportal.testbed.gridd STATE TOPOLOGY MODE SOCKET SLURM`. It imports no Django.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from gridportal.base.errors import GridPortalError, InputError, LaterError, shown
from gridportal.network import topology_files
from gridportal.testbed import agent, cgroups, network, node_limits, topologies, waiting_ranks, watchdog
from gridportal.testbed.layout import Layout, plan
from gridportal.testbed.sandbox import keyring
from gridportal.testbed.sandbox.job_rules import JobRules
from gridportal.testbed.service import Service
from gridportal.testbed.slurm import cluster, wires
from gridportal.testbed.slurm.config import CONTROL_ADDRESS, CONTROLLER
from gridportal.testbed.state import State, write_atomically

_LONGEST_LINE = 32 * 1024 * 1024


def main(argv: list[str]) -> int:
    """Build the Grid, serve it until it is told to end; 0 then, 1 with the reason in failure.json."""
    root, topology_file, mode, address, slurm = argv
    state = State(root, address)
    if mode == "unshaped":
        watchdog.start(str(state.root))
    with contextlib.suppress(OSError):  # the test of how far jobs are kept apart meets it again, and says it
        keyring.join_closed()
    try:
        service = build(state, topology_file, mode, slurm)
    except (GridPortalError, OSError) as error:
        write_atomically(state.root / "failure.json", {"error": str(error)})
        return 1
    asyncio.run(serve(service, address))
    return 0


def build(state: State, topology_file: str, mode: str, slurm: str = "") -> Service:
    """Namespaces, network and control groups of the Grid that a topology file describes.

    `slurm`: "" for none, "slurm", or "accounting" for one with accounts.
    """
    layout = plan(topology_files.load(topologies.find(topology_file)))
    shaped = mode != "unshaped"
    state.hosts.write_text(_hosts(layout, slurm), encoding="utf-8")
    state.write_launcher((Path(__file__).parent / "enter-node.sh").read_text(encoding="utf-8"))
    if shaped:
        waiting_ranks.build(state)
        network.prepare_space(forward=False)
        socket.sethostname(CONTROLLER)
    if slurm:
        cluster.mount(state)
    names = layout.spaces if shaped else tuple(layout.addresses)
    members = {name: agent.start(name, state, router=name in layout.routers, shaped=shaped) for name in names}
    if shaped:
        network.build(layout, {name: member.pid for name, member in members.items()})
    if slurm:
        wires.build(layout, {name: member.pid for name, member in members.items()})
    groups = cgroups.make(state, layout.addresses)
    limits = node_limits.make(state, layout.sizes, JobRules.read(state).limits)
    cgroups.occupy(state)
    _write_nodes(state, layout, members, groups, shaped=shaped)
    return Service(state, layout, members, groups, mode, slurm, limits)


async def serve(service: Service, address: str) -> None:
    """Answer JSON lines on the Unix socket `address` until told to go down."""
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, service.ended.set)
    loop.add_signal_handler(signal.SIGCHLD, service.spawner.reap)
    await service.begin()
    Path(address).unlink(missing_ok=True)
    server = await asyncio.start_unix_server(
        lambda reader, writer: _converse(service, reader, writer), path=address, limit=_LONGEST_LINE
    )
    os.chmod(address, 0o600)
    async with server:
        await service.ended.wait()
    await service.end()


async def _converse(service: Service, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        line = await reader.readline()
        while line:
            answer = asyncio.create_task(_answer(service, line))
            following = asyncio.create_task(reader.readline())
            await asyncio.wait({answer, following}, return_when=asyncio.FIRST_COMPLETED)
            if following.done() and not following.result():
                answer.cancel()  # Nobody waits any more: a command in the foreground ends.
                return
            writer.write(json.dumps(await answer).encode() + b"\n")
            await writer.drain()
            line = await following
    except (ConnectionError, ValueError):
        pass  # The client went away, or sent a line beyond the limit: its own loss.
    finally:
        writer.close()


async def _answer(service: Service, line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
        return {"result": await service.perform(request.pop("op"), request)}
    except InputError as error:
        value = error.value if isinstance(error.value, (str, int, float, type(None))) else shown(error.value)
        return {"error": str(error), "input": [error.field, value, error.accepted]}
    except GridPortalError as error:
        return {"error": str(error), "later": isinstance(error, LaterError)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, TimeoutError) as error:
        return {"error": f"The Grid could not do that: {_message(error)}."}


def _message(error: Exception) -> str:
    """What went wrong; a time limit has no words of its own.

    >>> _message(TimeoutError()), _message(KeyError("op"))
    ('a part of it did not answer in time (TimeoutError)', "KeyError: 'op'")
    """
    if isinstance(error, TimeoutError) and not str(error):
        return "a part of it did not answer in time (TimeoutError)"
    return f"{type(error).__name__}: {str(error).rstrip('.')}".rstrip(": ")


def _hosts(layout: Layout, slurm: str) -> str:
    lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in layout.addresses.items())]
    if slurm:
        lines.append(f"{CONTROL_ADDRESS} {CONTROLLER}")
    return "\n".join(lines) + "\n"


def _write_nodes(
    state: State,
    layout: Layout,
    members: dict[str, agent.Member],
    groups: dict[str, Path],
    *,
    shaped: bool,
) -> None:
    """What the launcher reads: how to enter each node."""
    for name in layout.addresses:
        folder = state.node(name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pid").write_text(f"{members[name].pid}\n" if shaped else "", encoding="ascii")
        (folder / "cgroup").write_text(f"{groups[name]}\n" if name in groups else "", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
