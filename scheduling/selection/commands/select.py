"""`gridportal select`: choose nodes for a job from a topology file, and say why."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gridportal.base import bounded_json
from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.typed_options import as_typed
from monitoring.telemetry.adapters import topology_file
from scheduling.jobs.core import patterns
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.core.units import parse_rate, rate_text, share_text
from scheduling.messages import message
from scheduling.messages.documents import candidates as told_candidates
from scheduling.selection.core.placement import candidate_group
from scheduling.selection.core.selection import METHODS, Request, Selection, document, select

EDGES_SHOWN = 24


def select_command(
    context: typer.Context,
    topology: Annotated[
        str, typer.Option(help="Topology file (JSON, topology.conf or ibnetdiscover), or a shipped one.")
    ],
    nodes: Annotated[int, typer.Option(help="How many nodes, one rank each.")],
    method: Annotated[str, typer.Option(help=", ".join(METHODS) + ".")],
    pattern: Annotated[
        str | None, typer.Option(help="Pattern name (ring, mesh-2d:4x4, cg, ...) or file, for the method pattern.")
    ] = None,
    candidates: Annotated[int, typer.Option(help="How many groups to list, the chosen one included.")] = CANDIDATES,
    slack: Annotated[
        float,
        typer.Option(
            help="Groups up to this fraction below the best count as equal; then the shortest message time decides."
        ),
    ] = 0.0,
    flows: Annotated[
        bool, typer.Option("--flows", help="All pairs talk at once: count what they leave each other on shared links.")
    ] = False,
    seed: Annotated[int, typer.Option(help="For the method random.")] = 0,
    priority: Annotated[
        list[str] | None, typer.Option(help="compute=2 or communication=2, for the method balanced.")
    ] = None,
    min_bandwidth: Annotated[str, typer.Option(help="bit/s for every pair that talks, such as 50M.")] = "0",
    min_cpu: Annotated[float, typer.Option(help="Available cpu of every node, 0 to 1.")] = 0.0,
    require: Annotated[list[str] | None, typer.Option(help="Label that every node has, such as site=utk.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Node never to use; may be repeated.")] = None,
    reference_bandwidth: Annotated[
        str | None, typer.Option(help="bit/s that count as 100 % in the method balanced; else each link's capacity.")
    ] = None,
    time_budget: Annotated[float, typer.Option(help="Seconds for the exact search.")] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Choose nodes by a topology file and the job's communication pattern; the network itself is not asked."""
    try:
        network = topology_file.load(topology)
        request = Request(
            nodes=nodes,
            method=method,  # type: ignore[arg-type]  # checked by select
            pattern=_pattern(pattern, nodes),
            candidates=candidates,
            seed=seed,
            compute_priority=_priority(priority or []),
            min_bandwidth=parse_rate(min_bandwidth, "min-bandwidth"),
            min_cpu=min_cpu,
            require=_labels(require or []),
            exclude=frozenset(exclude or []),
            reference_bandwidth=None
            if reference_bandwidth is None
            else parse_rate(reference_bandwidth, "reference-bandwidth"),
            time_budget=time_budget,
            flows=flows,
            slack=slack,
        )
        selection = select(network, request, rng=random.Random(seed), clock=time.perf_counter)  # noqa: S311
    except GridPortalError as error:
        typed = as_typed(error, context.command.params) if isinstance(error, InputError) else error
        typer.echo(str(typed), err=True)
        raise typer.Exit(error.exit_code) from error
    if as_json:
        typer.echo(json.dumps(_document(selection), allow_nan=False))
    else:
        _show(selection)


def _document(selection: Selection) -> dict[str, Any]:
    groups = map(candidate_group, selection.candidates)
    return {**document(selection), "candidates": told_candidates(groups)}


def load_pattern(name: str, ranks: int) -> Pattern:
    """A pattern by name or from a node-link file. Raises InputError."""
    if name.partition(":")[0].lower() in patterns.NAMES:
        return patterns.named(name, ranks)
    if bounded_json.is_there(name):
        raw = bounded_json.load(name, "pattern", "a readable node-link JSON file")
        return patterns.parse(raw, name=Path(name).stem)
    raise InputError("pattern", name, f"{patterns.ACCEPTED}, or a pattern file")


def _pattern(name: str | None, ranks: int) -> Pattern | None:
    return None if name is None else load_pattern(name, ranks)


def _priority(given: Sequence[str]) -> float:
    """compute=2 is a factor of 2, communication=2 of one half."""
    factor = 1.0
    for text in given:
        what, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = 0.0
        if what not in ("compute", "communication") or not 0 < value < float("inf"):
            raise InputError("priority", text, "compute=FACTOR or communication=FACTOR with a factor above 0")
        factor *= value if what == "compute" else 1 / value
    return factor


def _labels(given: Sequence[str]) -> dict[str, str]:
    labels = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise InputError("require", text, "LABEL=VALUE, such as site=utk")
        labels[key] = value
    return labels


def _show(selection: Selection) -> None:
    how = selection.pattern.describe() if selection.pattern else selection.method
    how += ", all at once" if selection.flows else ""
    typer.echo(f"{typer.style(' '.join(selection.nodes), bold=True)}  ({how}, in rank order)")
    typer.echo(f"{message(selection.candidates[0].reason)}.")
    _show_candidates(selection)
    edges = sorted(selection.candidates[0].edges, key=lambda edge: (edge.bandwidth, edge.ranks))
    if edges:
        _show_edges(selection)
    if len(edges) > EDGES_SHOWN:
        typer.echo(f"The slowest {EDGES_SHOWN} of {len(edges)} pairs; --json lists more.")
    typer.echo(f"Chosen in {selection.seconds:.3f} s.")


def _show_candidates(selection: Selection) -> None:
    columns = (
        Column("Group"),
        Column("Nodes", wraps=True),
        Column("Lowest bandwidth", number=True),
        Column("Lowest cpu", number=True),
        Column("Why", wraps=True),
    )
    rows = []
    for number, candidate in enumerate(selection.candidates, 1):
        rate = candidate.objective.min_bandwidth
        cells = (
            "chosen" if number == 1 else str(number),
            " ".join(candidate.nodes),
            "-" if rate is None else rate_text(rate),
            share_text(candidate.objective.min_cpu),
            message(candidate.reason),
        )
        rows.append(cells)
    show_table(columns, rows, title="Candidate groups")


def _show_edges(selection: Selection) -> None:
    first = selection.candidates[0]
    columns = (
        Column("Ranks"),
        Column("Nodes", wraps=True),
        Column("Bandwidth", number=True),
        Column("Remark", wraps=True),
    )
    rows = []
    for edge in sorted(first.edges, key=lambda edge: (edge.bandwidth, edge.ranks))[:EDGES_SHOWN]:
        binds = edge == first.bottleneck and first.link
        remark = f"the bottleneck; the link {first.link[0]} - {first.link[1]} binds" if binds and first.link else ""
        ranks = f"{edge.ranks[0]}-{edge.ranks[1]}"
        rows.append((ranks, f"{edge.source} - {edge.target}", rate_text(edge.bandwidth), remark))
    show_table(columns, rows, title="Pairs that talk")
