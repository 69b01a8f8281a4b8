"""Sends a node's own messages of the traffic of Selection 1999: `python -S -m gridportal.testbed.sender ORDER`.

Every node draws the same sequence from the same seed and sends what is its own, over real TCP connections, one for each
message. Nobody waits for anybody: a message that the network holds up overlaps with the next.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time

from gridportal.testbed.arrivals import Message, MessageModel, messages

_BLOCK = bytes(64 * 1024)
_PATIENCE = 30.0
_MOST_AT_ONCE = 64


def main(argv: list[str]) -> int:
    """The order: node, seed, model, begin (CLOCK_MONOTONIC), and address and port of each node by its name."""
    order = json.loads(argv[0])
    places = {node: (str(host), int(port)) for node, (host, port) in order["places"].items()}
    free = threading.Semaphore(_MOST_AT_ONCE)
    sequence = messages(order["seed"], list(places), MessageModel(**order["model"]))
    for message in sequence:
        if message.source != order["node"]:
            continue
        time.sleep(max(0.0, order["begin"] + message.at - time.monotonic()))
        free.acquire()
        threading.Thread(target=_send, args=(message, places[message.target], free), daemon=True).start()
    return 0


def _send(message: Message, place: tuple[str, int], free: threading.Semaphore) -> None:
    try:
        # The other end may be taken down in between; the next message finds out by itself.
        with contextlib.suppress(OSError), socket.create_connection(place, timeout=_PATIENCE) as connection:
            connection.sendall(b"d")
            left = message.size
            while left > 0:
                left -= connection.send(_BLOCK[: min(left, len(_BLOCK))])
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1024)
    finally:
        free.release()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
