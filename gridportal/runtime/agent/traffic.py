"""Whose bytes are whose: what each run's connections sent and received, and what went to each other node."""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.runtime import connections
from gridportal.runtime.connections import Connection

_MOST_RUNS, _MOST_PEERS, _MOST_KNOWN = 64, 512, 65_536
Totals = dict[str, list[int]]


class Traffic:
    """Adds up the bytes of TCP connections by run and by peer, from look to look.

    What a connection carried before it was first seen counts too: it began since the last look, or before this process.
    A connection belongs to the run of the process that held it when it was first seen with one.
    """

    def __init__(self) -> None:
        self._follower: connections.Follower | None = connections.Follower()
        self._known: dict[int, tuple[int, int]] = {}
        self._holders: dict[int, str] = {}
        self.by_run: Totals = {}
        self.by_peer: Totals = {}
        self.error = ""

    def look(self, members: Mapping[int, str]) -> None:
        """`members`: the run of each process that belongs to one."""
        if self._follower is None:
            return
        try:
            there, ended = self._follower.look()
        except OSError as error:
            self.error, self._follower = f"{error}", None
            return
        there = [each for each in there if _leaves_node(each)][:_MOST_KNOWN]
        self._find_holders(there, members)
        for each in (*there, *ended):
            self._add(each)
        present = {each.cookie for each in there}
        self._known = {cookie: counts for cookie, counts in self._known.items() if cookie in present}
        self._holders = {cookie: run for cookie, run in self._holders.items() if cookie in present}

    def _find_holders(self, there: list[Connection], members: Mapping[int, str]) -> None:
        new = {each.inode: each.cookie for each in there if each.inode and each.cookie not in self._holders}
        if not new:
            return
        found = connections.owners(new, members) if members else {}
        for inode, cookie in new.items():
            if inode in found:
                self._holders[cookie] = members[found[inode]]

    def _add(self, each: Connection) -> None:
        before = self._known.get(each.cookie, (0, 0))
        sent, received = max(0, each.bytes_sent - before[0]), max(0, each.bytes_received - before[1])
        self._known[each.cookie] = (each.bytes_sent, each.bytes_received)
        if not (sent or received) or not _leaves_node(each):
            return
        _count(self.by_peer, each.remote[0], sent, received, _MOST_PEERS)
        if run := self._holders.get(each.cookie):
            _count(self.by_run, run, sent, received, _MOST_RUNS)


def _leaves_node(each: Connection) -> bool:
    """Whether its ends are on two nodes: ranks of one node that talk over its loopback use no link."""
    return not each.local[0].startswith("127.") and each.local[0] != each.remote[0]


def _count(totals: Totals, name: str, sent: int, received: int, most: int) -> None:
    """Add, at the end of the order; beyond `most` the one that was quiet longest is forgotten."""
    have = totals.pop(name, None) or [0, 0]
    totals[name] = [have[0] + sent, have[1] + received]
    if len(totals) > most:
        del totals[next(iter(totals))]
