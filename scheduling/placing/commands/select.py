"""`gridportal select`: choose nodes for a job from a topology file, and say why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.errors import GridPortalError, ImpossibleError, InputError
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import as_typed
from gridportal.network.topology import Topology
from gridportal.web.command_database import database
from monitoring.status.core import remos
from monitoring.telemetry.adapters import topology_file
from monitoring.telemetry.core.figures import When
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import check_links
from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.scaling_table import ScalingTable
from scheduling.jobs.core.units import parse_rate
from scheduling.messages import documents, message
from scheduling.selection.commands import choice_tables
from scheduling.selection.commands.rank_options import RankOptions
from scheduling.selection.commands.rank_question import RankQuestion
from scheduling.selection.commands.selection_tables import show_counts, show_selection
from scheduling.selection.core.explanations.next_link import next_link
from scheduling.selection.core.explanations.node_reasons import node_reasons
from scheduling.selection.core.pairs.pair_latency import latency_unknown
from scheduling.selection.core.placement import candidate_group
from scheduling.selection.core.selection import METHODS, Request, Selection, document

if TYPE_CHECKING:  # it reads the database, which not every call has
    from scheduling.placing.commands.free_nodes import FreeNodes

Narrowed = Callable[[Request, RankRequest], Request]


def select_command(
    context: typer.Context,
    method: Annotated[str, typer.Option(help=", ".join(METHODS) + ".")],
    nodes: Annotated[int | None, typer.Option(help="How many nodes; alone, one rank on each.")] = None,
    ranks: Annotated[
        str | None,
        typer.Option(help="How many ranks; alone, on as many nodes as is best. With --scaling: 2..16 or 2,4,8."),
    ] = None,
    ranks_per_node: Annotated[int | None, typer.Option(help="Ranks on each node; with --ranks, at most.")] = None,
    cpus_per_rank: Annotated[int, typer.Option(help="Processors (threads) of each rank; nodes have label cpus.")] = 1,
    memory_per_rank: Annotated[
        str | None, typer.Option(help="Memory of each rank, 2000M or 4G; nodes have label mem_gb.")
    ] = None,
    gres_per_rank: Annotated[str | None, typer.Option(help="GRES of each rank, gpu:1; nodes have label gres.")] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            help="Topology file (JSON, GraphML, topology.conf or ibnetdiscover), or a shipped one: cactus, cmu8, "
            "crossbar10, grads, grads-whole or smp6."
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A cluster of the portal in GRIDPORTAL_HOME, in place of a topology file.")
    ] = None,
    window: Annotated[str | None, typer.Option(help="Of a cluster: over the past 15m, 1h, 7d, ... not now.")] = None,
    forecast: Annotated[bool, typer.Option("--forecast", help="Of a cluster: as forecast, in place of now.")] = False,
    forecast_over: Annotated[
        str | None, typer.Option("--ahead", help="Of a cluster: as forecast over the next 15m, 1h, ...")
    ] = None,
    count_busy: Annotated[
        bool, typer.Option("--count-busy", help="Of a cluster: nodes that jobs hold now count as free, too.")
    ] = False,
    capacity: Annotated[str | None, typer.Option(help="bit/s of links without one, such as 10G.")] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            help="Pattern name (ring, mesh-2d:4x4, cg, ...), its file, or a profile, for pattern and balanced."
        ),
    ] = None,
    candidates: Annotated[int, typer.Option(help="How many groups to list, the chosen one included.")] = CANDIDATES,
    differ: Annotated[int, typer.Option(help="In how many nodes each group listed differs from the others.")] = 1,
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
    min_cpu: Annotated[
        float, typer.Option(help="Free part of every node's own processor, 0 to 1, whatever its speed.")
    ] = 0.0,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="What every node has: site=utk, 'mem_gb>=16', 'rack in 1|2', 'speed>1', 'latency<0.001'; all count."
        ),
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Node never to use; may be repeated.")] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(help="A rank or a group on one of some nodes: 0=n3, server=n1,n2; may be repeated."),
    ] = None,
    spec: Annotated[
        str | None, typer.Option(help="File of the application's specification: groups, links, pins, exclude.")
    ] = None,
    scaling: Annotated[
        str | None, typer.Option(help="File of seconds by numbers of ranks: choose how many of --ranks too.")
    ] = None,
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
        options = RankOptions(
            nodes, ranks, ranks_per_node, cpus_per_rank, memory_per_rank, gres_per_rank, spec, pin or []
        )
        specification = options.specification()
        _refuse_unused(
            method, pattern=pattern, slack=slack, priority=priority, reference=reference_bandwidth, flows=flows
        )
        if specification:
            check_links(specification, method, pattern, field="spec")
        when = remos.parse_when(window, forecast_over, topology, forecast=forecast)
        request = Request(
            nodes=None,
            method=method,  # type: ignore[arg-type]  # checked by select
            candidates=candidates,
            differ=differ,
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
            specification=specification,
        )
        if count_busy and topology is not None:
            raise InputError("count-busy", True, "a cluster of the portal: nobody holds nodes of a file")
        network, free = _network(topology, cluster, when, _rate(capacity, "capacity"), count_busy=count_busy)
        with _free_only(free) as narrowed:
            question = RankQuestion(network, request, options, pattern, narrowed)
            choice = None if scaling is None else question.best_count(ScalingTable.load(scaling))
            asked = question.request(choice.chosen.ranks if choice else None)
            selection = (choice and choice.chosen.selection) or question.answer(asked)
        better = next_link(network, selection)
        left = node_reasons(network, asked, selection, free.reasons() if free else None) if explain else ()
    except GridPortalError as error:
        typed = as_typed(error, context.command.params) if isinstance(error, InputError) else error
        echo(str(typed), err=True)
        raise typer.Exit(error.exit_code) from error
    if unknown := latency_unknown(network, request.require):
        echo(message(unknown), err=True)
    explanation = Explanation.of(left, better, most=len(left))
    if as_json:
        why = documents.explanation(explanation)
        shown = {**_document(selection), "next_link": why.pop("next_link")}
        shown |= {"left": {name: why[name] for name in ("counts", "nodes")}} if explain else {}
        shown |= {"scaling": choice.document()} if choice else {}
        shown |= free.document() if free else {}
        echo(json.dumps(shown, allow_nan=False))
        return
    if choice:
        show_counts(choice)
    show_selection(selection)
    if free and (line := free.summary(selection)):
        echo(line)
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
    if pattern is not None and method not in ("pattern", "balanced"):
        raise InputError("pattern", pattern, "the method pattern or balanced with it")
    if slack is not None and (method != "pattern" or flows):
        raise InputError("slack", slack, "the method pattern without --flows with it")
    if priority and method != "balanced":
        raise InputError("priority", priority[0], balanced)
    if reference is not None and method != "balanced":
        raise InputError("reference-bandwidth", reference, balanced)


@contextmanager
def _free_only(free: FreeNodes | None) -> Iterator[Narrowed | None]:
    """Leaves out what jobs hold, of a cluster; a refusal says so."""
    if free is None:
        yield None
        return
    try:
        with database():
            yield free.narrowed
    except ImpossibleError as error:
        raise free.refusal(error) from error


def _network(
    topology: str | None, cluster: str | None, when: When, capacity: float | None, *, count_busy: bool
) -> tuple[Topology, FreeNodes | None]:
    if topology is not None and cluster is not None:
        raise InputError("cluster", cluster, "either --topology or --cluster")
    if topology is not None:
        return topology_file.load(topology, capacity=capacity), None
    if capacity is not None:
        raise InputError("capacity", capacity, "a topology file with it: a cluster has figures of its own")
    with database():
        from monitoring.status.selectors.remos_queries import network_of
        from scheduling.placing.commands.free_nodes import FreeNodes

        name, network = network_of(cluster, when=when)
        return network, FreeNodes(name, network, count_busy)


def _rate(text: str | None, field: str) -> float | None:
    return None if text is None else parse_rate(text, field)


def _document(selection: Selection) -> dict[str, Any]:
    """As the API has it."""
    return {**document(selection), "candidates": documents.candidates(map(candidate_group, selection.candidates))}


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
