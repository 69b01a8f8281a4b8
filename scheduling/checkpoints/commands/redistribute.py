"""`gridportal redistribute plan`: how data gets from one layout to another, between whom, and how long that takes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.rates import parse_rate
from gridportal.base.typed_options import HELP, Commands
from gridportal.network.importers.hostlist import expand
from gridportal.network.topology import Topology
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.redistribution import Message, Redistribution
from monitoring.telemetry.adapters import topology_file
from scheduling.checkpoints.core import plan_bounds, redistribution_time

app = typer.Typer(
    cls=Commands, context_settings=HELP, no_args_is_help=True, help="Data of a program, from one layout to another."
)
_LAYOUT = "such as block:4, cyclic:4, block-cyclic:64:4, block-cyclic:64x64:2x2, shares:30,10 or replicated:4"
#: Rows of a table that a person reads.
_SHOWN = 40
_MOST_DIMENSIONS, _MOST_DIGITS = 16, 15


@app.callback()
def group() -> None:
    """Data of a program, from one layout to another."""


@app.command()
def plan(
    old: Annotated[str, typer.Option("--from", help=f"The layout now: {_LAYOUT}.")],
    new: Annotated[str, typer.Option("--to", help="The layout after.")],
    shape: Annotated[str, typer.Option(help="Lengths of the array, such as 10000,10000.")],
    dtype: Annotated[str, typer.Option(help="Type of its elements, as numpy names it: f8, i4, c16.")] = "f8",
    topology: Annotated[
        str | None, typer.Option(help="A topology file or a shipped one, to say how long it takes.")
    ] = None,
    nodes_from: Annotated[
        str | None, typer.Option(help="Nodes of the ranks now, in rank order: n1,n2 or n[1-4].")
    ] = None,
    nodes_to: Annotated[str | None, typer.Option(help="Nodes of the ranks after.")] = None,
    capacity: Annotated[str | None, typer.Option(help="bit/s of links without one, such as 10G.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Say which rank sends how much to which, the data maps before and after, and the seconds on a network."""
    lengths, size = _shape(shape), _itemsize(dtype)
    way = plan_bounds.bounded(_layout(old, "from", lengths), _layout(new, "to", lengths), lengths)
    messages = way.messages(size)
    placed = _placed(messages, nodes_from, nodes_to)
    found = _Plan(way, size, messages, placed[0] if placed else {}, _seconds(topology, capacity, placed))
    if as_json:
        echo(json.dumps(_plan_document(found), allow_nan=False))
    else:
        _show(found)


_Placed = tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]


def _placed(messages: list[Message], nodes_from: str | None, nodes_to: str | None) -> _Placed | None:
    """Bytes and readers of each pair of nodes; None where no nodes are given."""
    if nodes_from is None and nodes_to is None:
        return None
    for field, given in (("nodes-from", nodes_from), ("nodes-to", nodes_to)):
        if given is None:
            raise InputError(field, None, "the nodes of all ranks, for the others are given")
    old, new = _nodes(nodes_from or "", "nodes-from"), _nodes(nodes_to or "", "nodes-to")
    moved = redistribution_time.bytes_between(messages, old, new)
    readers: dict[tuple[str, str], int] = {}
    for message in messages:
        pair = (old[message.source], new[message.target])
        readers[pair] = readers.get(pair, 0) + 1
    return moved, readers


def _nodes(text: str, field: str) -> list[str]:
    try:
        return expand(text)
    except InputError as error:
        raise InputError(field, text, error.accepted) from error


def _seconds(topology: str | None, capacity: str | None, placed: _Placed | None) -> float | None:
    if topology is None:
        if capacity is not None:
            raise InputError("capacity", capacity, "a rate for the links of a topology, which --topology names")
        return None
    if placed is None:
        raise InputError("topology", topology, "one with --nodes-from and --nodes-to, the nodes of all ranks")
    peak = None if capacity is None else parse_rate(capacity, "capacity")
    network = topology_file.load(topology, capacity=peak)
    _check_known(network, placed[0])
    return redistribution_time.seconds(network, *placed)


def _check_known(network: Topology, moved: Mapping[tuple[str, str], int]) -> None:
    """That the nodes which send and get are in the topology."""
    names = {node.id for node in network.nodes}
    for field, end in (("nodes-from", 0), ("nodes-to", 1)):
        if strange := sorted({pair[end] for pair in moved} - names):
            raise InputError(field, strange[0], "nodes of the topology")


def _layout(text: str, field: str, shape: tuple[int, ...]) -> Layout:
    """The layout that an option names, for an array of `shape`; what is wrong is told of the option."""
    try:
        layout = layouts.parsed(text, field)
        layout.check(shape)
    except InputError as error:
        raise InputError(field, text, error.accepted) from error
    return layout


def _shape(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if len(words) > _MOST_DIMENSIONS or not all(
        word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS for word in words
    ):
        accepted = f"whole numbers of up to {_MOST_DIGITS} digits with commas between them, such as 10000,10000"
        raise InputError("shape", text, f"{accepted}, at most {_MOST_DIMENSIONS}")
    return tuple(int(word) for word in words)


def _itemsize(text: str) -> int:
    try:
        size = np.dtype(text).itemsize
    except (TypeError, ValueError, SyntaxError) as error:
        raise InputError("dtype", text, "a type of numpy with a size, such as f8, i4 or c16") from error
    if not size or np.dtype(text).hasobject:
        raise InputError("dtype", text, "a type of numpy with a size, such as f8, i4 or c16")
    return size


@dataclass(frozen=True, slots=True)
class _Share:
    """What a layout gives a rank: the shape and bytes of its array, and in how many panels."""

    rank: int
    shape: tuple[int, ...]
    bytes: int
    panels: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that is said of a way: `moved` bytes between nodes, `seconds` where a network is known."""

    way: Redistribution
    itemsize: int
    messages: list[Message]
    moved: dict[tuple[str, str], int]
    seconds: float | None

    @property
    def bytes(self) -> int:
        """Of all messages."""
        return sum(message.bytes for message in self.messages)

    def shares(self, layout: Layout) -> list[_Share]:
        """The data map of a layout, rank by rank."""
        shape, shares = self.way.shape, []
        for rank in range(layout.ranks):
            local = layout.local_shape(shape, rank)
            shares.append(_Share(rank, local, self.itemsize * math.prod(local), layout.panel_count(shape, rank)))
        return shares


def _plan_document(plan: _Plan) -> dict[str, Any]:
    return {
        "shape": list(plan.way.shape),
        "from": {"layout": plan.way.old.text, "ranks": [asdict(share) for share in plan.shares(plan.way.old)]},
        "to": {"layout": plan.way.new.text, "ranks": [asdict(share) for share in plan.shares(plan.way.new)]},
        "messages": [asdict(message) for message in plan.messages],
        "bytes": plan.bytes,
        "nodes": [{"source": a, "target": b, "bytes": size} for (a, b), size in sorted(plan.moved.items())],
        "seconds": plan.seconds,
    }


def _show(plan: _Plan) -> None:
    for title, layout in (("From", plan.way.old), ("To", plan.way.new)):
        rows = [
            (str(share.rank), " x ".join(map(str, share.shape)), f"{share.bytes:,}", f"{share.panels:,}")
            for share in plan.shares(layout)
        ]
        _table(("Rank", "Shape", "Bytes", "Panels"), rows, f"{title} {layout.text}")
    echo("Panels are the blocks of the whole array that a rank has.")
    echo("")
    if not plan.messages:
        echo("An array without elements has nothing to move: no bytes, and no time.")
        return
    if plan.moved:
        nodes = [(source, target, f"{size:,}") for (source, target), size in sorted(plan.moved.items())]
        _table(("From", "To", "Bytes"), nodes, "Nodes")
    else:
        ranks = [(str(each.source), str(each.target), f"{each.bytes:,}") for each in plan.messages]
        _table(("From", "To", "Bytes"), ranks, "Ranks")
    echo(f"{plan.bytes:,} bytes in {len(plan.messages):,} messages.")
    if plan.seconds is not None:
        echo(f"Reading takes {plan.seconds:.3g} s on this network, when all ranks read at once.")


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]], title: str) -> None:
    columns = [Column(head, number=head in ("Rank", "Bytes", "Panels")) for head in heads]
    show_table(columns, rows[:_SHOWN], title=title)
    if len(rows) > _SHOWN:
        echo(f"and {len(rows) - _SHOWN:,} more; --json has all")
    echo("")
