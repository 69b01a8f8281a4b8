"""The depots as the ranks of a program use them: to which nodes shards go, and what becomes of those that are there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from mpi4py import MPI

from gridportal.runtime.depot.depot_access import DepotAccess, Keep, own_node
from gridportal.runtime.depot.depot_client import BUSY, DepotError, Depots, Wanted
from gridportal.runtime.srs.checkpoint_manifest import (
    BadCheckpointError,
    Checkpoint,
    Shard,
    StoredArray,
    UnreachableError,
)

#: Depots that one rank asks at once.
AT_ONCE = 8
_SWEEPING_TRIES = 2


class ShardDepots:
    """Shards in the depots of a job. Made by all ranks of `comm` together; every call after that is a rank's own."""

    def __init__(self, comm: MPI.Intracomm, access: DepotAccess) -> None:
        self._access, self._depots = access, Depots(access)
        self._silent: dict[str, str] = {}
        mine = own_node(access)
        names = access.addresses if isinstance(access.addresses, Mapping) else comm.allgather(mine)
        self.nodes = targets(mine, sorted({*names, mine}), access.copies)
        self.all_nodes = sorted({node for nodes in comm.allgather(self.nodes) for node in nodes})
        if comm.Get_rank() == 0 and len(self.nodes) < access.copies:
            sys.stderr.write(f"There is no second node: shards are in the depot of {self.nodes[0]} only.\n")

    def put(self, token: str, place: int, rank: int, content: memoryview) -> tuple[tuple[str, ...], int]:
        """Keep a shard in as many depots as it is to have, one of which is this node's own; in which it is now, and
        its checksum. Raises DepotError where it is in none; that it is in fewer is said on standard error."""
        name = _name(token, place, rank)

        def put(node: str) -> int | DepotError:
            try:
                return self._depots.put(node, name, content)
            except DepotError as error:
                return error

        from concurrent.futures import ThreadPoolExecutor  # late: most ranks use no depot

        with ThreadPoolExecutor(len(self.nodes)) as pool:
            answers = list(zip(self.nodes, pool.map(put, self.nodes), strict=True))
        kept = [(node, answer) for node, answer in answers if not isinstance(answer, DepotError)]
        problems = [answer for _, answer in answers if isinstance(answer, DepotError)]
        if not kept:
            raise problems[0]
        for problem in problems:
            sys.stderr.write(f"A shard of rank {rank} is in one depot only: {problem}\n")
        return tuple(node for node, _ in kept), kept[0][1]

    def verify(self, checkpoint: Checkpoint, stored: StoredArray, shard: Shard, node: str) -> None:
        """Compare length and checksum of the copy of a shard on `node`, whose depot is waited for only once. Raises
        BadCheckpointError, UnreachableError for one that does not answer."""
        about = f"What rank {shard.rank} held of {stored.name} in checkpoint {checkpoint.number}"
        if node in self._silent:
            raise UnreachableError(f"{about} is not to be had: {self._silent[node]}")
        try:
            checksum = self._depots.check(node, _name(checkpoint.token, stored.place, shard.rank), shard.bytes)
        except DepotError as error:
            if error.code and error.code != BUSY:
                raise BadCheckpointError(f"{about} is not to be had: {error}") from error
            self._silent[node] = str(error)
            raise UnreachableError(f"{about} is not to be had: {error}") from error
        if checksum != shard.checksum:
            raise BadCheckpointError(f"{about} was changed in the depot of {node} since it was written.")

    def fetch(
        self, checkpoint: Checkpoint, stored: StoredArray, rank: int, node: str, wanted: Callable[[], Iterable[Wanted]]
    ) -> None:
        """Get parts of what `rank` held from `node`. Raises DepotError."""
        self._depots.fetch(node, _name(checkpoint.token, stored.place, rank), wanted)

    def let_go(self, before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> None:
        """Take away the shards of the tokens (with their nodes) that are not there any more. A depot that does not
        answer keeps them until the job is over; standard error says so."""
        by_node: dict[str, list[str]] = {}
        for token, nodes in before.items():
            for node in nodes if token not in after else ():
                by_node.setdefault(node, []).append(token)
        depots = Depots(self._access, _SWEEPING_TRIES)

        def drop(node: str) -> None:
            try:
                depots.drop(node, by_node[node])
            except DepotError as error:
                sys.stderr.write(f"Old shards stay where they are: {error}\n")

        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(drop, by_node))

    @property
    def in_files(self) -> bool:
        """Whether new shards are files in the shared folder."""
        return self._access.keep is not Keep.DEPOTS

    @property
    def in_depots(self) -> bool:
        """Whether new shards are in depots."""
        return self._access.keep is not Keep.FOLDER


def targets(own: str, nodes: Sequence[str], copies: int) -> tuple[str, ...]:
    """The node itself and those that follow it among `nodes`, in a ring: as many as there are to be copies.

    >>> targets("n3", ["n1", "n2", "n3"], 2)
    ('n3', 'n1')
    """
    at = nodes.index(own)
    return tuple([*nodes[at:], *nodes[:at]][:copies])


def _name(token: str, place: int, rank: int) -> str:
    return f"{token}-{place}-{rank}"
