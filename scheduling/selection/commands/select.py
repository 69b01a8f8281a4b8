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
from gridportal.network.topology import Topology
from gridportal.web.command_database import database
from monitoring.status.core import remos
from monitoring.telemetry.adapters import topology_file
from monitoring.telemetry.core.figures import When
from scheduling.jobs.core import label_conditions, patterns
from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.core.units import parse_rate, rate_text, share_text
from scheduling.messages import documents, message
from scheduling.profiles.core import profile as profiles
from scheduling.selection.commands import choice_tables
from scheduling.selection.core.next_link import next_link
from scheduling.selection.core.node_reasons import node_reasons
from scheduling.selection.core.placement import candidate_group
from scheduling.selection.core.selection import METHODS, Request, Selection, document, select

EDGES_SHOWN = 24


def select_command(
    context: typer.Context,
    nodes: Annotated[int, typer.Option(help="How many nodes, one rank each.")],
    method: Annotated[str, typer.Option(help=", ".join(METHODS) + ".")],
    topology: Annotated[
        str | None,
        typer.Option(help="Topology file (JSON, GraphML, topology.conf or ibnetdiscover), or a shipped one."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A cluster of the portal in GRIDPORTAL_HOME, in place of a topology file.")
    ] = None,
    window: Annotated[str | None, typer.Option(help="Of a cluster: over the past 15m, 1h, 7d, ... not now.")] = None,
    forecast: Annotated[bool, typer.Option("--forecast", help="Of a cluster: as forecast, in place of now.")] = False,
    forecast_over: Annotated[
        str | None, typer.Option("--ahead", help="Of a cluster: as forecast over the next 15m, 1h, ...")
    ] = None,
    capacity: Annotated[str | None, typer.Option(help="bit/s of links without one, such as 10G.")] = None,
    pattern: Annotated[
        str | None,
        typer.Option(help="Pattern name (ring, mesh-2d:4x4, cg, ...), its file, or a profile, for the method pattern."),
    ] = None,
    candidates: Annotated[int, typer.Option(help="How many groups to list, the chosen one included.")] = CANDIDATES,
    slack: Annotated[
        float | None,
        typer.Option(help="Groups up to this fraction below the best are equals; the shortest messages decide."),
    ] = None,
    flows: Annotated[
        bool, typer.Option("--flows", help="All pairs talk at once: count what they leave each other on shared links.")
    ] = False,
    seed: Annotated[int, typer.Option(help="For the method random.")] = 0,
    priority: Annotated[
        list[str] | None, typer.Option(help="compute=2 or communication=2, for the method balanced.")
    ] = None,
    min_bandwidth: Annotated[str, typer.Option(help="bit/s for every pair that talks, such as 50M.")] = "0",
    min_cpu: Annotated[float, typer.Option(help="Available cpu of every node, 0 to 1.")] = 0.0,
    require: Annotated[
        list[str] | None,
        typer.Option(help="What every node has: site=utk, 'mem_gb>=16', 'rack in 1|2', 'speed>1', ...; all count."),
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Node never to use; may be repeated.")] = None,
    reference_bandwidth: Annotated[
        str | None, typer.Option(help="bit/s that count as 100 % in the method balanced; else each link's capacity.")
    ] = None,
    time_budget: Annotated[float, typer.Option(help="Seconds for the exact search.")] = 5.0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each node that was not taken why, and count the reasons.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Choose nodes on a topology file or a cluster of the portal, by the job's communication pattern, and say why."""
    try:
        _refuse_unused(
            method, pattern=pattern, slack=slack, priority=priority, reference=reference_bandwidth, flows=flows
        )
        when = remos.parse_when(window, forecast_over, topology, forecast=forecast)
        request = Request(
            nodes=nodes,
            method=method,  # type: ignore[arg-type]  # checked by select
            pattern=None if pattern is None else load_pattern(pattern, nodes),
            candidates=candidates,
            seed=seed,
            compute_priority=_priority(priority or []),
            min_bandwidth=parse_rate(min_bandwidth, "min-bandwidth"),
            min_cpu=min_cpu,
            require=_labels(require or []),
            exclude=frozenset(exclude or []),
            reference_bandwidth=_rate(reference_bandwidth, "reference-bandwidth"),
            time_budget=time_budget,
            flows=flows,
            slack=slack or 0.0,
        )
        network = _network(topology, cluster, when, _rate(capacity, "capacity"))
        selection = select(network, request, rng=random.Random(seed), clock=time.perf_counter)  # noqa: S311
        better = next_link(network, selection)
        left = node_reasons(network, request, selection) if explain else ()
    except GridPortalError as error:
        typed = as_typed(error, context.command.params) if isinstance(error, InputError) else error
        typer.echo(str(typed), err=True)
        raise typer.Exit(error.exit_code) from error
    explanation = Explanation.of(left, better, most=len(left))
    if as_json:
        why = documents.explanation(explanation)
        shown = {**_document(selection), "next_link": why.pop("next_link")}
        typer.echo(json.dumps(shown | ({"left": why} if explain else {}), allow_nan=False))
    else:
        _show(selection)
        choice_tables.show_next_link(better)
        if explain:
            choice_tables.show_left(explanation)


def _refuse_unused(
    method: str,
    *,
    pattern: str | None,
    slack: float | None,
    priority: Sequence[str] | None,
    reference: str | None,
    flows: bool,
) -> None:
    """Raise InputError for an option that the method has no use for; what was typed is never ignored."""
    balanced = "the method balanced with it"
    if pattern is not None and not (method == "pattern" or (method == "balanced" and flows)):
        raise InputError("pattern", pattern, "the method pattern with it, or balanced with --flows")
    if slack is not None and (method != "pattern" or flows):
        raise InputError("slack", slack, "the method pattern without --flows with it")
    if priority and method != "balanced":
        raise InputError("priority", priority[0], balanced)
    if reference is not None and method != "balanced":
        raise InputError("reference-bandwidth", reference, balanced)


def _network(topology: str | None, cluster: str | None, when: When, capacity: float | None) -> Topology:
    if topology is not None and cluster is not None:
        raise InputError("cluster", cluster, "either --topology or --cluster")
    if topology is not None:
        return topology_file.load(topology, capacity=capacity)
    if capacity is not None:
        raise InputError("capacity", capacity, "a topology file with it: a cluster has figures of its own")
    with database():
        from monitoring.status.selectors.remos_queries import network_of

        return network_of(cluster, when=when)


def _rate(text: str | None, field: str) -> float | None:
    return None if text is None else parse_rate(text, field)


def _document(selection: Selection) -> dict[str, Any]:
    """As the API has it."""
    return {**document(selection), "candidates": documents.candidates(map(candidate_group, selection.candidates))}


def load_pattern(name: str, ranks: int) -> Pattern:
    """A pattern by name, from a node-link file, or from a profile (`trace show --json`). Raises InputError."""
    if name.partition(":")[0].lower() in patterns.NAMES:
        return patterns.named(name, ranks)
    if bounded_json.is_there(name):
        raw = bounded_json.load(name, "pattern", "a readable node-link JSON file, or a profile")
        if isinstance(raw, dict) and "bytes" in raw and "nodes" not in raw:
            return profiles.parse(raw).pattern
        return patterns.parse(raw, name=Path(name).stem)
    raise InputError("pattern", name, f"{patterns.ACCEPTED}, a pattern file or a profile")


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
    return label_conditions.merge(map(label_conditions.parse, given))


def _show(selection: Selection) -> None:
    how = selection.pattern.describe() if selection.pattern else selection.method
    how += ", all at once" if selection.flows else ""
    typer.echo(f"{typer.style(' '.join(selection.nodes), bold=True)}  ({how}, in rank order)")
    typer.echo(f"{message(selection.candidates[0].reason)}.")
    _show_candidates(selection)
    _show_bound(selection)
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


def _show_bound(selection: Selection) -> None:
    bound, gap = selection.candidates[0].bound, selection.candidates[0].gap
    if bound is None or gap is None:
        return
    most = share_text(bound) if selection.method == "balanced" else rate_text(bound)
    typer.echo(f"No group can have more than {most}; the chosen one has {gap * 100:.1f} % less.")


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
        held = f"the link {edge.link[0]} - {edge.link[1]} binds" if edge.link else ""
        remark = f"the bottleneck; {held}" if held and edge == first.bottleneck else held
        ranks = f"{edge.ranks[0]}-{edge.ranks[1]}"
        rows.append((ranks, f"{edge.source} - {edge.target}", rate_text(edge.bandwidth), remark))
    show_table(columns, rows, title="Pairs that talk")
