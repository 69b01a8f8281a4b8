"""The depot beside an agent: a process of its own, which shares the agent's memory pages and ends with it.

It is forked before the agent has threads. Whatever is read from the depot, the agent answers as it does without it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from typing import Any

from gridportal.runtime.agent.frames import RefusedError
from gridportal.runtime.depot import depot_wire
from gridportal.runtime.depot.depot_server import DepotServer
from gridportal.runtime.depot.shard_store import ShardStore

_ANSWERING = 30.0  # seconds
_MOST_ANSWERED = 768 * 1024  # bytes: it goes on in a frame of the agent's own


def start(listener: socket.socket, key: bytes, node: str, store: ShardStore) -> int:
    """Serve `store` on `listener` in a new process; its number. OSError when there can be none."""
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid:
        os.close(theirs)
        listener.close()
        return pid
    os.close(ours)
    with contextlib.suppress(OSError):  # an agent may go before programs; who serves these does not
        os.setpriority(os.PRIO_PROCESS, 0, max(0, os.getpriority(os.PRIO_PROCESS, 0)))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_agent, args=(theirs,), daemon=True).start()
    try:
        DepotServer(listener, key, node, store).serve()
    finally:
        os._exit(1)


def _end_with_agent(pipe: int) -> None:
    """Nobody writes to the pipe: it has an end when the agent has gone, however that was."""
    os.read(pipe, 1)
    os._exit(0)


def relay(key: bytes, node: str, address: tuple[str, int], request: dict[str, Any]) -> dict[str, Any]:
    """What the depot at `address` answers to the portal's question, or {"error"} in a few words."""
    try:
        with socket.create_connection(address, timeout=_ANSWERING) as connection:
            portal = depot_wire.job_key(key, depot_wire.PORTAL)
            session = depot_wire.opened(connection, portal, depot_wire.PORTAL, node)
            session.send(dict(request["ask"]))
            return session.receive(_MOST_ANSWERED)
    except (OSError, RefusedError, KeyError, TypeError, ValueError) as error:
        return {"error": f"the depot of {node} does not answer: {error or type(error).__name__}"[:200]}
