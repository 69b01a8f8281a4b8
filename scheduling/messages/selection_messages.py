"""Why the selection took a group of nodes, and by what the others lost; what a group has to offer, in one line.

A group here is {"pair": [a, b] or None, "bandwidth": bit/s of that pair, "cpu": the lowest, "is_linked"}; a balance is
{"score", "binds": "both", "cpu" or "network", "cpu"}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.rank_places import in_short
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup
from scheduling.jobs.core.explanation import NextLink
from scheduling.jobs.core.units import rate_text, share_text
from scheduling.messages.parts import full_stop, sentence
from scheduling.messages.registry import message, plain, says

_DECIDED = {"mean": "mean rate", "mean_cpu": "mean cpu"}
#: So many links are named.
_LINKS_NAMED = 12
_AT_ONCE = ", all pairs talking at once"
#: What becomes of the shares of the work without those of a mapper.
_SHARES_INSTEAD = "Where the program takes shares, they go by the speed of the nodes."


@says(Code.DRAWN)
def _(seed: int, group: Mapping[str, Any]) -> str:
    return f"drawn at random with seed {seed}; {_offers(group)}"


@says(Code.DRAWN_LATER)
def _(group: Mapping[str, Any]) -> str:
    return f"drawn later; {_offers(group)}"


@says(Code.NODES_NAMED)
def _(person: str) -> str:
    return f"named by {person} for a move"


@says(Code.NOT_PROVED)
def _(budget: float, group: Mapping[str, Any]) -> str:
    return f"the best found in {budget:g} s, not proved to be the best: {_offers(group)}"


@says(Code.NEAR_BOUND)
def _(gap: float, group: Mapping[str, Any]) -> str:
    return f"{_offers(group)}; at most {_share_below(gap)} below what any group can have{_AT_ONCE}"


@says(Code.MOST_CPU)
def _(nodes: int, cpu: float) -> str:
    return f"lowest cpu {share_text(cpu)}; no other {_size(nodes)} has more"


@says(Code.MOST_BALANCED)
def _(nodes: int, balance: Mapping[str, Any], group: Mapping[str, Any], *, flows: bool) -> str:
    return f"{_worth(balance, group)}; no other {_size(nodes)} has more{_AT_ONCE if flows else ''}"


@says(Code.LEAST_MESSAGE_TIME)
def _(slack: float, group: Mapping[str, Any]) -> str:
    reach = f"{_offers(group)}, at most {share_text(slack)} below the best there is"
    least = "its busiest rank's messages take the least time by bandwidth (latency is not counted)"
    return f"{reach}; of all such groups seen, {least}"


@says(Code.FASTEST)
def _(nodes: int, group: Mapping[str, Any], *, flows: bool) -> str:
    return f"{_offers(group)}; no other {_size(nodes)} has a faster slowest pair{_AT_ONCE if flows else ''}"


@says(Code.UNJOINED)
def _(why: Reason, pair: Sequence[str]) -> str:
    return f"{message(why)}; {pair[0]} and {pair[1]} have no path between them"


@says(Code.EQUALS_DECIDED)
def _(why: Reason, by: str) -> str:
    """`mean+first`: some groups were equal in what decided, too."""
    criterion, plus, _ = by.partition("+")
    decided = f"{message(why)}; among equals the {_DECIDED.get(criterion, criterion)} decided"
    return f"{decided}, and of those equal in that too the first is taken" if plus else decided


@says(Code.FIRST_FREE)
def _(why: Reason) -> str:
    return f"The first group of which no node is busy. {message(why)}"


@says(Code.AMONG_MATCHED)
def _(*, is_set: bool, is_exact: bool, by_request: bool) -> str:
    if not by_request:
        return "only nodes that administrators' ads leave to this job were compared"
    if not is_set:
        return "only nodes that the request allows were compared"
    if is_exact:
        return "of the sets that the request allows none has a higher rank"
    return "of the sets that the request allows the best by rank that was found in time"


@says(Code.BEST_OF_MATCHED)
def _(among: Reason, why: Reason) -> str:
    return f"{message(among)}; within these nodes: {message(why)}"


@says(Code.MAPPER_FAILED)
def _(mapper: str, error: str) -> str:
    return f"The mapper {mapper} failed: {full_stop(error)} Its order of the nodes is not used. {_SHARES_INSTEAD}"


@says(Code.MAPPER_ZERO_SHARES)
def _(mapper: str, nodes: Sequence[str]) -> str:
    given = f"The mapper {mapper} gave {in_short(nodes, ', ')} a share of 0"
    return f"{given}. Its shares are not used, because each rank needs a share above 0. {_SHARES_INSTEAD}"


@says(Code.LATENCY_UNKNOWN)
def _(condition: str) -> str:
    return f"No latency is known of any path here, so each counts as 0 s: {condition} decides nothing."


@says(Code.MORE_MESSAGE_TIME)
def _(more: float, group: Mapping[str, Any]) -> str:
    return f"{_offers(group)}, but its busiest rank's messages take {share_text(more)} longer"


@says(Code.AS_GOOD)
def _(group: Mapping[str, Any]) -> str:
    return f"equal to the chosen group in all that decides ({_offers(group)}); the first of equal groups is taken"


@says(Code.INSIDE_NODES)
def _(nodes: int, cpu: float) -> str:
    where = "one node" if nodes == 1 else f"one of {nodes} nodes"
    return f"all ranks that talk with each other are on {where}, so they need no link; lowest cpu {share_text(cpu)}"


@says(Code.TAKES_LINKS)
def _(group: Mapping[str, Any]) -> str:
    return f"ranks on different nodes talk: {_offers(group)}"


@says(Code.MORE_BETWEEN_NODES)
def _(more: float, group: Mapping[str, Any]) -> str:
    return f"{_offers(group)} as in the chosen group, but its messages between nodes take {share_text(more)} longer"


@says(Code.LESS_BALANCED)
def _(less: float, balance: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    return f"{_worth(balance, group)}, {_points(less)} less than the chosen group"


@says(Code.LESS_CPU)
def _(cpu: float, less: float) -> str:
    return f"lowest cpu {share_text(cpu)}, {_points(less)} less than the chosen group"


@says(Code.SLOWER_PAIR)
def _(less: float, group: Mapping[str, Any], *, is_scatter: bool) -> str:
    hardly = ", about as much as measurements vary" if is_scatter else ""
    return f"{_offers(group)}, {rate_text(less)} less than the chosen group{hardly}"


@says(Code.SLOWER_AT_EQUAL_SHARE)
def _(less: float, group: Mapping[str, Any]) -> str:
    return f"as high a lowest share as the chosen group, but {_offers(group)}, {rate_text(less)} less"


@says(Code.SLOWER_AT_EQUAL_CPU)
def _(less: float, group: Mapping[str, Any]) -> str:
    return f"as much cpu as the chosen group, but {_offers(group)}, {rate_text(less)} less"


@says(Code.LOWER_MEAN)
def _(mean: float, less: float, group: Mapping[str, Any]) -> str:
    return f"{_offers(group)} as in the chosen group, but a mean rate of {rate_text(mean)}, {rate_text(less)} less"


@says(Code.LOWER_MEAN_CPU)
def _(cpu: float, best: float, group: Mapping[str, Any]) -> str:
    return f"{_alike(group)}, but mean cpu {share_text(cpu)} against {share_text(best)}"


@says(Code.LOWER_CPU)
def _(cpu: float, best: float, group: Mapping[str, Any], *, is_faster: bool) -> str:
    return (
        f"{_offers(group) if is_faster else _alike(group)}, but lowest cpu {share_text(cpu)} against {share_text(best)}"
    )


plain({Code.ONE_MACHINE: "all nodes of its cluster are one machine, so any of them are as good"})


def finding(group: CandidateGroup, peak: float | None = None, *, talks: bool = True) -> str:
    """One line about a group of nodes: its bottleneck, or that several pairs have as little, and the next slowest
    pair. `talks`: the pairs are those of a
    pattern, not simply all pairs of the group. `peak` is the capacity, bit/s, of the link that binds.

    >>> from scheduling.jobs.core.candidates import RankPair
    >>> slowest = Bottleneck(RankPair((0, 1), "n1", "n2", 48e6, 1.0))
    >>> finding(CandidateGroup(("n1", "n2"), bottleneck=slowest), 100e6)
    'n1-n2 is the bottleneck: 48 of 100 Mbit/s.'
    """
    if group.reason.code is Code.ONE_MACHINE:
        return sentence(message(group.reason))
    bottleneck = group.bottleneck
    if bottleneck is None:
        if len(set(group.nodes)) == 1:
            who = "One rank" if len(group.nodes) == 1 else f"All {len(group.nodes)} ranks"
            return f"{who} on {group.nodes[0]}: no pair of nodes talks."
        return "No pair of its ranks talks, so no link can slow the job down."
    slowest = bottleneck.pair.bandwidth or 0.0
    pair, has = _between(bottleneck), _of(slowest, peak)
    head = f"{pair} is the bottleneck: {has}"
    rest = [edge.bandwidth or 0.0 for edge in group.edges if edge.ranks != bottleneck.pair.ranks]
    if not rest:
        return head + "."
    level = sum(rate <= slowest * 1.01 for rate in rest)
    if not level:
        return f"{head}; every other pair{' that talks' * talks} has {rate_text(min(rest))} or more."
    others = f"1 other pair{' that talks' * talks}" if level == 1 else f"{level} other pairs{' that talk' * talks}"
    return f"{pair} and {others} have the least: {has} each."


def finding_of(nodes: Sequence[str], candidates: Sequence[CandidateGroup], peak: float | None, method: str) -> str:
    """The same of what was chosen; the candidates of old placements may be missing."""
    chosen = candidates[0] if candidates else CandidateGroup(tuple(nodes))
    return finding(chosen, peak, talks=method == "pattern")


def better_link(better: NextLink) -> str:
    """What better links would buy the same nodes.

    >>> better_link(NextLink((("n1", "s"),), 4e7, 9e7, ("n2", "s")))
    'With a faster link n1-s the slowest pair would have 90 Mbit/s in place of 40 Mbit/s; then n2-s is the limit.'
    """
    pairs = {frozenset(ends): ends for ends in reversed(better.links)}
    links = [_link(ends) for ends in reversed(pairs.values())]
    named = (
        links if len(links) <= _LINKS_NAMED else [*links[: _LINKS_NAMED - 1], f"{len(links) - _LINKS_NAMED + 1} more"]
    )
    what = f"With a faster link {links[0]}"
    if len(links) > 1:
        what = f"With faster links {', '.join(named[:-1])} and {named[-1]}, all of them,"
    if better.then is None or better.binding is None:
        return f"{what} no other link would limit the slowest pair."
    now, then, binding = rate_text(better.bandwidth), rate_text(better.then), _link(better.binding)
    if now == then:
        return f"{what} the slowest pair would have hardly more than {now}: {binding} is the next limit."
    return f"{what} the slowest pair would have {then} in place of {now}; then {binding} is the limit."


def _link(ends: Sequence[str]) -> str:
    return f"{ends[0]} to {ends[1]}" if "-" in ends[0] + ends[1] else f"{ends[0]}-{ends[1]}"


def _between(bottleneck: Bottleneck) -> str:
    source, target = bottleneck.pair.source, bottleneck.pair.target
    pair, link = f"{source}-{target}", bottleneck.link
    return pair if link is None or {*link} == {source, target} else f"{pair}, over the link {link[0]}-{link[1]},"


def _of(rate: float, peak: float | None) -> str:
    if not peak:
        return rate_text(rate)
    value, unit = rate_text(rate).split(" ", 1)
    whole, whole_unit = rate_text(peak).split(" ", 1)
    return f"{value} of {whole} {unit}" if unit == whole_unit else f"{value} {unit} of {whole} {whole_unit}"


def _offers(group: Mapping[str, Any]) -> str:
    if group["pair"] is None:
        return f"lowest cpu {share_text(group['cpu'])}"
    source, target = group["pair"]
    if not group["is_linked"]:
        return f"{source} and {target} have no path between them"
    pair = f"{source} to {target}" if "-" in source + target else f"{source}-{target}"
    return f"bottleneck {pair} gives {rate_text(group['bandwidth'])}"


def _alike(group: Mapping[str, Any]) -> str:
    """That a group offers what the chosen one offers."""
    if group["pair"] is None:
        return "no pair of its nodes talks, as in the chosen group"
    return f"{_offers(group)} as in the chosen group"


def _worth(balance: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """What the balanced method maximised, and for flows which of its two parts binds: they are parts of other wholes
    than the figures beside it."""
    worth, offers = share_text(balance["score"]), _offers(group)
    if balance["binds"] == "both":
        return f"{worth} of bandwidth and weighted cpu at once ({offers})"
    if balance["binds"] == "cpu":
        return f"{worth} of its processors, while its network has more ({offers})"
    return f"{worth} of what idle links would give, while its processors have {share_text(balance['cpu'])} ({offers})"


def _size(nodes: int) -> str:
    return "node" if nodes == 1 else f"group of {nodes} nodes"


def _points(share: float) -> str:
    return share_text(share).replace(" %", " points")


def _share_below(gap: float) -> str:
    """A gap that is never told as less than it is."""
    return f"{max(0.1, math.ceil(gap * 1000) / 10):g} %"
