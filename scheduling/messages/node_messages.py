"""Why a compute node was not taken for a job, as sentences whose subject is the node."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.units import rate_text, share_text
from scheduling.messages.parts import full_stop, nodes
from scheduling.messages.registry import plain, says

#: So many pinned nodes are named.
_NAMED = 8

plain(
    {
        Code.NODE_EXCLUDED: "excluded by the job itself",
        Code.NODE_NOT_DRAWN: "not drawn",
        Code.NODE_NOT_REQUESTED: "the request excludes it",
        Code.NODE_KEPT_BY_AD: "an administrator's ad keeps it from this job",
        Code.NODE_NOT_MATCHED: "the request excludes it, or an administrator's ad keeps it from this job",
        Code.NODE_NOT_IN_SET: "the request allows it, but the set that was chosen for the request is without it",
        Code.NODE_NOT_FOR_ITS_RANKS: "not among the nodes on which any of the chosen nodes' ranks may be",
    }
)


@says(Code.NODE_NOT_NAMED)
def _(person: str) -> str:
    return f"not among the nodes that {person} named"


@says(Code.NODE_TOO_SMALL)
def _(slots: int, needed: int) -> str:
    return f"room for {nodes(slots, 'rank')}, and each node of the group has {nodes(needed, 'rank')} or more"


@says(Code.NODE_NOT_PINNED)
def _(nodes: Sequence[str]) -> str:
    shown = [*nodes[:_NAMED], f"{len(nodes) - _NAMED} more"] if len(nodes) > _NAMED else list(nodes)
    return f"others were named for the chosen nodes' ranks, by pins or by who moved the job: {', '.join(shown)}"


@says(Code.NODE_BUSY)
def _(job: int | None) -> str:
    return "in use by somebody else" if job is None else f"in use by job {job}"


@says(Code.NODE_CLOSED)
def _(error: str) -> str:
    return f"takes no jobs: {full_stop(error).rstrip('.')}" if error else "not what the job's options ask for"


@says(Code.NODE_LACKS)
def _(condition: str, label: str, has: str | None) -> str:
    return f"{condition} was asked for; it has {f'no label {label}' if has is None else f'{label}={has}'}"


@says(Code.NODE_LACKS_OPTION)
def _(option: str, needed: str, has: str) -> str:
    return f"{option} {needed} was asked for; it has {has or 'none'}"


@says(Code.NODE_LACKS_NOTHING)
def _(room: int, ranks: int) -> str:
    if room < ranks:
        return f"nothing, but all such nodes together have room for {room} of {nodes(ranks, 'rank')}"
    return "nothing by itself, but no group with it has all that the job asks for"


@says(Code.NODE_LOW_CPU)
def _(cpu: float, min_cpu: float) -> str:
    return f"{share_text(cpu)} of its processor are free, {share_text(min_cpu)} were asked for"


@says(Code.NODE_APART)
def _(place_of: str, pair: Sequence[str]) -> str:
    return f"no path to {pair[1]}, not even in the place of {place_of}"


@says(Code.NODE_SLOWER)
def _(place_of: str, pair: Sequence[str], bandwidth: float, best: float) -> str:
    return f"{rate_text(bandwidth)} to {pair[1]} in the place of {place_of}, less than the group's {rate_text(best)}"


@says(Code.NODE_SLOWER_AT_ONCE)
def _(place_of: str, bandwidth: float, best: float) -> str:
    rate = f"{rate_text(bandwidth)} with all pairs talking at once"
    return f"{rate} in the place of {place_of}, less than the group's {rate_text(best)}"


@says(Code.NODE_BELOW)
def _(place_of: str, pair: Sequence[str], bandwidth: float, min_bandwidth: float) -> str:
    asked = f"less than the {rate_text(min_bandwidth)} that were asked for"
    return f"{rate_text(bandwidth)} to {pair[1]} in the place of {place_of}, {asked}"


@says(Code.NODE_LESS_CPU)
def _(place_of: str, cpu: float, best: float) -> str:
    return f"lowest cpu {share_text(cpu)} in the place of {place_of}, less than the group's {share_text(best)}"


@says(Code.NODE_LESS_BALANCED)
def _(place_of: str, score: float, best: float) -> str:
    return f"a score of {share_text(score)} in the place of {place_of}, less than the group's {share_text(best)}"


@says(Code.NODE_LESS_CPU_AT_EQUALS)
def _(place_of: str, cpu: float, best: float) -> str:
    return f"as good in the place of {place_of}, but with a lowest cpu of {share_text(cpu)} against {share_text(best)}"


@says(Code.NODE_SLOWER_AT_EQUALS)
def _(place_of: str, bandwidth: float, best: float) -> str:
    return f"as good in the place of {place_of}, but with {rate_text(bandwidth)} against {rate_text(best)}"


@says(Code.NODE_TOO_FAR)
def _(place_of: str, pair: Sequence[str], condition: str) -> str:
    return f"too far from {pair[1]} in the place of {place_of}: {condition} s was asked for"


@says(Code.NODE_BELOW_SLACK)
def _(place_of: str, pair: Sequence[str], bandwidth: float, level: float) -> str:
    least = f"less than the {rate_text(level)} that the slack allows"
    return f"{rate_text(bandwidth)} to {pair[1]} in the place of {place_of}, {least}"


@says(Code.NODE_MORE_MESSAGE_TIME)
def _(place_of: str, more: float, is_busiest: bool) -> str:
    whose = "the busiest rank's messages" if is_busiest else "all messages together"
    return f"{whose} take {share_text(more)} longer in the place of {place_of}"


@says(Code.NODE_AS_GOOD)
def _(place_of: str) -> str:
    return f"as good in the place of {place_of}; mean figures or the order of the file decided"


@says(Code.NODE_NOT_WEIGHED)
def _(place_of: str) -> str:
    return f"as good by the pairs one at a time in the place of {place_of}; not compared any further"


@says(Code.NODE_PASSED_OVER)
def _(place_of: str) -> str:
    return f"better in the place of {place_of}; the search ended before that was tried"


#: What has left nodes out, for a count of them.
KINDS = {
    Code.NODE_EXCLUDED: "excluded by the job",
    Code.NODE_NOT_NAMED: "not among the nodes that were named",
    Code.NODE_BUSY: "in use",
    Code.NODE_CLOSED: "closed, or not what the options ask for",
    Code.NODE_LACKS_OPTION: "too small, or not what the options ask for",
    Code.NODE_LACKS_NOTHING: "fit by themselves",
    Code.NODE_LOW_CPU: "too little processor free",
    Code.NODE_APART: "no path to the group",
    Code.NODE_SLOWER: "slower than the slowest pair of the group",
    Code.NODE_TOO_SMALL: "too few slots",
    Code.NODE_NOT_FOR_ITS_RANKS: "not meant for these ranks",
    Code.NODE_NOT_PINNED: "not where somebody wants the ranks",
    Code.NODE_SLOWER_AT_ONCE: "slower with all pairs talking at once",
    Code.NODE_BELOW: "slower than asked for",
    Code.NODE_LESS_CPU: "less cpu than the group",
    Code.NODE_LESS_BALANCED: "a lower score than the group",
    Code.NODE_LESS_CPU_AT_EQUALS: "as good, with less cpu",
    Code.NODE_SLOWER_AT_EQUALS: "as good, with less bandwidth",
    Code.NODE_TOO_FAR: "too far away",
    Code.NODE_BELOW_SLACK: "slower than the slack allows",
    Code.NODE_MORE_MESSAGE_TIME: "longer messages than the group",
    Code.NODE_AS_GOOD: "as good as a node of the group",
    Code.NODE_NOT_WEIGHED: "as good by the pairs one at a time",
    Code.NODE_PASSED_OVER: "better, but not tried in time",
    Code.NODE_NOT_DRAWN: "not drawn",
    Code.NODE_NOT_REQUESTED: "excluded by the request",
    Code.NODE_KEPT_BY_AD: "kept from this job by an administrator's ad",
    Code.NODE_NOT_MATCHED: "excluded by the request or by an administrator's ad",
    Code.NODE_NOT_IN_SET: "not in the set that was chosen for the request",
}


def kind(reason: Reason) -> str:
    """What its kind of reason is called in a count.

    >>> kind(Reason.of(Code.NODE_LACKS, condition="site=utk", label="site", has=None))
    'without site=utk'
    """
    if reason.code is Code.NODE_LACKS:
        return f"without {reason.facts['condition']}"
    return KINDS[reason.code]
