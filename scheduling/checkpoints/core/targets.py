"""On how many ranks, and on which nodes, a program is to go on: what somebody asks for, as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.base.errors import InputError
from scheduling.jobs.core import ranks as rank_limits
from scheduling.jobs.core.ranks import Limits


@dataclass(frozen=True, slots=True)
class Target:
    """`nodes`: rank by rank, a node once for each of its ranks; empty: the portal chooses them."""

    ranks: int
    nodes: tuple[str, ...] = ()


def target(nodes: Sequence[str] | None, ranks: int | None, before: Sequence[str], limits: Limits, name: str) -> Target:
    """What is asked for, given where it ran `before`, rank by rank. `limits`: the counts that the application `name`
    takes.

    Nodes that are fewer than the ranks share them evenly, in blocks. Nodes alone: each rank has one of its own, where
    that was so before; else there are as many ranks as before. Raises InputError.

    >>> target(["n5", "n6"], 4, ["n1", "n2"], {}, "x").nodes
    ('n5', 'n5', 'n6', 'n6')
    >>> target(["n5", "n6", "n7"], None, ["n1", "n2"], {}, "x").ranks, target(None, None, ["n1", "n1"], {}, "x").ranks
    (3, 2)
    >>> target(None, 3, ["n1", "n2"], {"choices": [1, 2, 4]}, "NAS CG")
    Traceback (most recent call last):
    gridportal.base.errors.InputError: ranks is 3; accepted is 1, 2 or 4 for NAS CG.
    """
    given = tuple(nodes or ())
    alone = len(set(before)) == len(before)
    count = ranks if ranks is not None else (len(given) if given and alone else len(before))
    if isinstance(count, bool) or not isinstance(count, int) or not rank_limits.allows(limits, count):
        raise InputError("ranks", count, f"{rank_limits.accepted(limits)} for {name}")
    if len(given) > count:
        raise InputError("nodes", list(given), f"at most {count}, one for each rank")
    return Target(count, _in_blocks(given, count) if given else ())


def nodes_of(text: str) -> list[str] | None:
    """The nodes that somebody typed, with blanks or commas between them; None for nothing.

    >>> nodes_of("n1, n2 n3"), nodes_of(" ")
    (['n1', 'n2', 'n3'], None)
    """
    return text.replace(",", " ").split() or None


def ranks_of(text: str) -> int | None:
    """The number of ranks that somebody typed; None for nothing. Raises InputError."""
    word = text.strip()
    if not word:
        return None
    if not (word.isascii() and word.isdigit() and len(word) < 7):
        raise InputError("ranks", word, "a whole number, or nothing")
    return int(word)


def _in_blocks(nodes: Sequence[str], ranks: int) -> tuple[str, ...]:
    """Each rank's node: the first nodes have one rank more where it does not come out even."""
    least, more = divmod(ranks, len(nodes))
    return tuple(node for place, node in enumerate(nodes) for _ in range(least + (place < more)))
