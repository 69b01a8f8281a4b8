"""What `gridportal select` prints: the groups, the pairs of the chosen one, and the curve over numbers of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from scheduling.jobs.core.units import rate_text, share_text
from scheduling.messages import message
from scheduling.selection.core.counts.rank_counts import CountChoice, CountPoint
from scheduling.selection.core.placement import Candidate, EdgeRate
from scheduling.selection.core.selection import Selection

EDGES_SHOWN = 24


def runs(nodes: Sequence[str]) -> str:
    """Nodes in rank order; a node that several ranks in a row are on once, with their number.

    >>> runs(["a", "a", "b", "a"]), runs(["a", "b"])
    ('a*2 b a', 'a b')
    """
    lengths = ((name, len(list(same))) for name, same in groupby(nodes))
    return " ".join(name if length == 1 else f"{name}*{length}" for name, length in lengths)


def show_selection(selection: Selection) -> None:
    """The chosen group, why, the other groups, and its slowest pairs."""
    how = selection.pattern.describe() if selection.pattern else selection.method
    how += ", all at once" if selection.flows else ""
    echo(f"  ({how}, in rank order)", bold=runs(selection.nodes))
    echo(f"{message(selection.candidates[0].reason)}.")
    _show_candidates(selection)
    _show_bound(selection)
    pairs = node_pairs(selection.candidates[0].edges)
    if pairs:
        _show_pairs(selection.candidates[0], pairs)
    if len(pairs) > EDGES_SHOWN:
        echo(f"The slowest {EDGES_SHOWN} of {len(pairs)} pairs of nodes; --json lists more.")
    echo(f"Chosen in {selection.seconds:.3f} s.")


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
            runs(candidate.nodes),
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
    echo(f"No group can have more than {most}; the chosen one has {gap * 100:.1f} % less.")


def node_pairs(edges: Iterable[EdgeRate]) -> list[list[EdgeRate]]:
    """The pairs of ranks by the nodes that they are on, slowest first.

    >>> edges = [EdgeRate((0, 2), "a", "b", 9e6, 1.0), EdgeRate((0, 3), "a", "c", 5e6, 1.0)]
    >>> [[edge.ranks for edge in pair] for pair in node_pairs([*edges, EdgeRate((1, 2), "a", "b", 9e6, 1.0)])]
    [[(0, 3)], [(0, 2), (1, 2)]]
    """
    found: dict[frozenset[str], list[EdgeRate]] = {}
    for edge in sorted(edges, key=lambda edge: (edge.bandwidth, edge.ranks)):
        found.setdefault(frozenset((edge.source, edge.target)), []).append(edge)
    return list(found.values())


def _show_pairs(first: Candidate, pairs: Sequence[Sequence[EdgeRate]]) -> None:
    columns = (
        Column("Ranks"),
        Column("Nodes", wraps=True),
        Column("Bandwidth", number=True),
        Column("Remark", wraps=True),
    )
    rows = []
    for edge, *more in pairs[:EDGES_SHOWN]:
        held = f"the link {edge.link[0]} - {edge.link[1]} binds" if edge.link else ""
        remark = f"the bottleneck; {held}" if held and first.bottleneck in (edge, *more) else held
        ranks = f"{edge.ranks[0]}-{edge.ranks[1]}" + (f" and {len(more)} more" if more else "")
        rows.append((ranks, f"{edge.source} - {edge.target}", rate_text(edge.bandwidth), remark))
    show_table(columns, rows, title="Pairs that talk")


def show_counts(choice: CountChoice) -> None:
    """The curve: a row for each number of ranks."""
    columns = (
        Column("Ranks", number=True),
        Column("Nodes", number=True),
        Column("Predicted", number=True),
        Column("Saved", number=True),
        Column("For each node more", number=True),
        Column("Remark", wraps=True),
    )
    show_table(columns, [_count_row(point, choice) for point in choice.points], title="How many ranks and nodes")


def _count_row(point: CountPoint, choice: CountChoice) -> tuple[str, ...]:
    remarks = ["chosen"] if point.ranks == choice.chosen.ranks else []
    remarks += ["the knee: more buys less from here"] if point.ranks == choice.knee else []
    figures = (point.seconds, point.saved, point.saved_per_node)
    shown = ("-" if figure is None else f"{figure:.3g} s" for figure in figures)
    nodes = "-" if point.nodes is None else str(point.nodes)
    return (str(point.ranks), nodes, *shown, point.why or "; ".join(remarks))
