"""`gridportal redistribute plan`: how data gets from one layout to another, between whom, and how long that takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.rates import parse_rate
from gridportal.base.typed_options import HELP, Commands
from gridportal.network.importers.hostlist import expand
from gridportal.runtime.srs import layouts
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.redistribution import Message, Redistribution
from monitoring.telemetry.adapters import topology_file
from scheduling.checkpoints.core import redistribution_time

app = typer.Typer(
    cls=Commands, context_settings=HELP, no_args_is_help=True, help="Data of a program, from one layout to another."
)
_LAYOUT = "such as block:4, cyclic:4, block-cyclic:64:4, block-cyclic:64x64:2x2, shares:30,10 or replicated:4"
#: Rows of a table that a person reads.
_SHOWN = 40


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
    way = Redistribution(layouts.parsed(old, "from"), layouts.parsed(new, "to"), _shape(shape))
    messages = way.messages(_itemsize(dtype))
    placed = _placed(messages, nodes_from, nodes_to)
    document: dict[str, Any] = {
        "shape": list(way.shape),
        "from": _map(way.old, way.shape, _itemsize(dtype)),
        "to": _map(way.new, way.shape, _itemsize(dtype)),
        "messages": [{"source": m.source, "target": m.target, "bytes": m.bytes} for m in messages],
        "bytes": sum(message.bytes for message in messages),
        "nodes": [{"source": a, "target": b, "bytes": size} for (a, b), size in sorted(placed[0].items())],
        "seconds": _seconds(topology, capacity, placed),
    }
    if as_json:
        typer.echo(json.dumps(document, allow_nan=False))
    else:
        _show(document)


_Placed = tuple[dict[tuple[str, str], int], dict[tuple[str, str], int]]


def _placed(messages: list[Message], nodes_from: str | None, nodes_to: str | None) -> _Placed:
    """Bytes and readers of each pair of nodes; nothing where no nodes are given."""
    if nodes_from is None and nodes_to is None:
        return {}, {}
    for field, given in (("nodes-from", nodes_from), ("nodes-to", nodes_to)):
        if given is None:
            raise InputError(field, None, "the nodes of all ranks, for the others are given")
    old, new = expand(nodes_from or ""), expand(nodes_to or "")
    moved = redistribution_time.bytes_between(messages, old, new)
    readers: dict[tuple[str, str], int] = {}
    for message in messages:
        pair = (old[message.source], new[message.target])
        readers[pair] = readers.get(pair, 0) + 1
    return moved, readers


def _seconds(topology: str | None, capacity: str | None, placed: _Placed) -> float | None:
    if topology is None:
        if capacity is not None:
            raise InputError("capacity", capacity, "a rate for the links of a topology, which --topology names")
        return None
    if not placed[0]:
        raise InputError("topology", topology, "one with --nodes-from and --nodes-to, the nodes of all ranks")
    peak = None if capacity is None else parse_rate(capacity, "capacity")
    return redistribution_time.seconds(topology_file.load(topology, capacity=peak), *placed)


def _shape(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        raise InputError("shape", text, "whole numbers with commas between them, such as 10000,10000")
    return tuple(int(word) for word in words)


def _itemsize(text: str) -> int:
    try:
        size = np.dtype(text).itemsize
    except (TypeError, ValueError, SyntaxError) as error:
        raise InputError("dtype", text, "a type of numpy with a size, such as f8, i4 or c16") from error
    if not size or np.dtype(text).hasobject:
        raise InputError("dtype", text, "a type of numpy with a size, such as f8, i4 or c16")
    return size


def _map(layout: Layout, shape: tuple[int, ...], itemsize: int) -> dict[str, Any]:
    """The data map of a layout: shape, bytes and number of panels of each rank."""
    ranks = []
    for rank in range(layout.ranks):
        local = layout.local_shape(shape, rank)
        size = itemsize * int(np.prod(local, dtype=object))
        ranks.append({"rank": rank, "shape": list(local), "bytes": size, "panels": layout.panel_count(shape, rank)})
    return {"layout": layout.text, "ranks": ranks}


def _show(document: dict[str, Any]) -> None:
    for side in ("from", "to"):
        rows = [
            (str(each["rank"]), " x ".join(map(str, each["shape"])), f"{each['bytes']:,}", f"{each['panels']:,}")
            for each in document[side]["ranks"]
        ]
        heads = [
            Column("Rank", number=True),
            Column("Shape"),
            Column("Bytes", number=True),
            Column("Panels", number=True),
        ]
        _table(heads, rows, f"{side.capitalize()} {document[side]['layout']}")
    key, title = ("nodes", "Nodes") if document["nodes"] else ("messages", "Ranks")
    moved = [(str(each["source"]), str(each["target"]), f"{each['bytes']:,}") for each in document[key]]
    _table([Column("From"), Column("To"), Column("Bytes", number=True)], moved, title)
    typer.echo(f"{document['bytes']:,} bytes in {len(document['messages']):,} messages.")
    if document["seconds"] is not None:
        typer.echo(f"Reading takes {document['seconds']:.3g} s on this network, when all ranks read at once.")


def _table(columns: list[Column], rows: Sequence[tuple[str, ...]], title: str) -> None:
    show_table(columns, rows[:_SHOWN], title=title)
    if len(rows) > _SHOWN:
        typer.echo(f"and {len(rows) - _SHOWN:,} more; --json has all")
    typer.echo("")
