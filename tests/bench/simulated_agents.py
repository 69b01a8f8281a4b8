"""Many agents in one process that speak the real protocol and answer after a delay.

python -m tests.bench.simulated_agents FOLDER FIRST COUNT DELAY unix|tcp. The nodes are called by numbers from FIRST on;
each listens on an address of its own, which are printed, one to a line. It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import sys
import time
from collections import deque

from gridportal.runtime.agent import frames
from gridportal.runtime.agent.frames import NONCE, AgentSide, RefusedError

KEY = b"the key of simulated agents"
_REPORT = {
    "node": "n",
    "at": 1.0,
    "up": 100.0,
    "pid": 7,
    "cpus": 1,
    "load": 0.25,
    "cpu": 0.8,
    "runnable": 0,
    "memory": [8 * 2**30, 16 * 2**30],
    "disk": [2**38, 2**39],
    "interfaces": {"eth0": [10**9, 10**9, 1e6, 2e6]},
    "runs": {},
    "peers": {},
    "trouble": "",
    "probe": ["10.0.0.1", 7781],
}

_BODY = frames.dumped({**_REPORT, "clock": []})[:-2].replace(b"%", b"%%") + b"%.6f,%.6f]}"


def main(argv: list[str]) -> None:
    folder, first, count, delay, kind = argv[0], int(argv[1]), int(argv[2]), float(argv[3]), argv[4]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    poll = select.epoll()
    listeners = {}
    for index in range(count):
        listener, address = listen(folder, index, kind)
        listeners[listener.fileno()] = (listener, str(first + index))
        poll.register(listener, select.EPOLLIN)
        sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    poll.register(0, select.EPOLLHUP)
    serve(poll, listeners, delay)


def listen(folder: str, index: int, kind: str) -> tuple[socket.socket, str]:
    if kind == "unix":
        listener = socket.socket(socket.AF_UNIX)
        name = f"{os.getpid()}-{index}.sock"
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY)  # its own path may be longer than an address
        listener.bind(f"/proc/self/fd/{place}/{name}")
        os.close(place)
        address = f"unix:{folder}/{name}"
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    listener.listen(8)
    listener.setblocking(False)
    return listener, address


def serve(poll: select.epoll, listeners: dict[int, tuple[socket.socket, str]], delay: float) -> None:
    guests: dict[int, tuple[socket.socket, AgentSide]] = {}
    due: deque[tuple[float, socket.socket, AgentSide, int, float]] = deque()
    while True:
        pause = max(0.0, due[0][0] - time.monotonic()) if due else 10.0
        for descriptor, _ in poll.poll(pause, 512):
            if descriptor == 0:
                return
            if descriptor in listeners:
                listener, name = listeners[descriptor]
                connection, _ = listener.accept()
                connection.setblocking(False)
                side = AgentSide(KEY, name, os.urandom(NONCE))
                guests[connection.fileno()] = (connection, side)
                poll.register(connection, select.EPOLLIN)
                connection.send(side.hello())
                continue
            connection, side = guests[descriptor]
            try:
                asked = side.feed(connection.recv(4096) or b"\xff" * 4)
            except (OSError, RefusedError):
                poll.unregister(descriptor)
                connection.close()
                continue
            for number, _ in asked:
                if number:
                    due.append((time.monotonic() + delay, connection, side, number, time.time()))
        now = time.monotonic()
        while due and due[0][0] <= now:
            _, connection, side, number, received = due.popleft()
            with contextlib.suppress(OSError):
                connection.send(side.answer_with(number, _BODY % (received, time.time())))


if __name__ == "__main__":
    main(sys.argv[1:])
