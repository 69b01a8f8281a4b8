"""Counts the bytes that this node's programs send over TCP until it is told to stop: the pattern from outside.

Source: Pattern 2003, 2.1: monitoring the message traffic between nodes, without the program's source or its help.

    python -m gridportal.runtime.traffic_watch FOLDER NAME

It makes FOLDER/NAME.ready when it has begun, and when there is FOLDER/stop writes FOLDER/NAME.json: {"seconds",
"connections": [{"local": [address, port], "remote": [...], "sent": bytes, "program": name of its process}]}.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from gridportal.runtime.connections import Connection, Follower, owners

PERIOD = 0.05  # s: as long as a connection must last for its program to be known; its bytes are known in any case
LONGEST = 24 * 3600.0


@dataclass
class Flow:
    """One connection from this end: bytes sent since the watch began."""

    local: tuple[str, int]
    remote: tuple[str, int]
    sent: int = 0
    program: str = ""


class Watch:
    """Adds up what the connections of this namespace send, from the moment that it is made."""

    def __init__(self) -> None:
        self._follower = Follower()
        self._flows: dict[int, Flow] = {}
        there, _ = self._follower.look()
        self._before = {each.cookie: each.bytes_sent for each in there}
        self._began = time.monotonic()

    def look(self) -> None:
        """Note every connection's bytes, and whose the new ones are."""
        there, ended = self._follower.look()
        for each in (*there, *ended):
            self._note(each)
        unknown = [each for each in there if each.inode and not self._flows[each.cookie].program]
        if not unknown:
            return
        found = owners(each.inode for each in unknown)
        for each in unknown:
            if each.inode in found:
                self._flows[each.cookie].program = _name(found[each.inode])

    def _note(self, each: Connection) -> None:
        flow = self._flows.setdefault(each.cookie, Flow(each.local, each.remote))
        flow.sent = max(flow.sent, each.bytes_sent - self._before.get(each.cookie, 0))

    def report(self) -> dict[str, object]:
        """What was seen, as the document above."""
        seconds = time.monotonic() - self._began
        return {"seconds": seconds, "connections": [asdict(flow) for flow in self._flows.values() if flow.sent]}


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""  # it has ended


def main(folder: Path, name: str) -> None:
    """Watch until there is a file `stop` in the folder."""
    watch = Watch()
    (folder / f"{name}.ready").touch()
    end = time.monotonic() + LONGEST
    while not (folder / "stop").exists() and time.monotonic() < end and folder.exists():
        watch.look()
        time.sleep(PERIOD)
    watch.look()
    part = folder / f"{name}.part"
    part.write_text(json.dumps(watch.report()), encoding="utf-8")
    part.replace(folder / f"{name}.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
