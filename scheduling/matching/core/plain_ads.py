"""The request that the plain requirements of a job make: what single nodes have to have, in ClassAds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.requirements import Requirements
from scheduling.matching.core.language.ad_writer import name_text, value_text

_ORDERS = ("<=", ">=", "<", ">")


def plain_ad(asked: Requirements) -> str:
    """What each node has to have, clause by clause. What pairs have to have is not said by it: latency not at all, and
    of a bandwidth only that the best link of the node has it.

    A node satisfies it exactly where its labels, speed and free processor are what is asked (`label_conditions`).

    >>> print(plain_ad(Requirements(min_cpu=0.5, require={"site": "utk", "mem_gb": ">=16"})))
    [
      requirements = other.cpu >= 0.5
        && other.mem_gb >= 16
        && other.site =?= "utk"
    ]
    """
    return _ad(list(_clauses(asked)))


def job_ad(asked: Requirements, ranks: RankRequest | None, *, in_a_set: bool = False) -> str:
    """All that a job asks of its nodes beside a request of its own: the same, that it may have the node, and room for
    its ranks on each and on all together (`JobRoom`). ranks: None where a match says how many; in_a_set: the nodes are
    one set of the request, all of which are used.

    >>> print(job_ad(Requirements(), RankRequest(ranks=8, nodes=2)))
    [
      Type = "Set";
      requirements = other.Allowed
        && other.RankSlots >= 1
        && SetSize == 2
        && Sum(other.RankSlots) >= 8
    ]
    """
    clauses = [*_clauses(asked), "other.Allowed", "other.RankSlots >= 1"]
    if ranks is None:
        return _ad(clauses)
    return _ad([*clauses, *_counts(ranks, in_a_set=in_a_set)], '  Type = "Set";\n')


def _counts(ranks: RankRequest, *, in_a_set: bool) -> Iterator[str]:
    nodes = ranks.total if ranks.is_one_a_node else ranks.nodes_asked
    if nodes is not None:
        yield f"SetSize {'>=' if ranks.is_one_a_node and not in_a_set else '=='} {nodes}"
    elif in_a_set:
        yield f"SetSize <= {ranks.total}"
    if not ranks.is_one_a_node:
        yield f"Sum(other.RankSlots) >= {ranks.total}"


def _ad(clauses: Sequence[str], kind: str = "") -> str:
    joined = "\n    && ".join(clauses) if clauses else "true"
    return f"[\n{kind}  requirements = {joined}\n]"


def _clauses(asked: Requirements) -> Iterator[str]:
    if asked.min_cpu:
        yield f"other.cpu >= {value_text(float(asked.min_cpu))}"
    if asked.min_bandwidth:
        yield f"other.bandwidth >= {value_text(float(asked.min_bandwidth))}"
    for label, condition in sorted(asked.require.items()):
        if label != label_conditions.LATENCY:
            for part in label_conditions.split(condition):
                yield _clause(label, part)


def _clause(label: str, condition: str) -> str:
    name = f"other.{name_text(label_conditions.MEMORY_LABEL if label == label_conditions.MEMORY else label)}"
    sign, wanted = label_conditions.parted(condition)
    if sign in _ORDERS:
        return f"{name} {sign} {_number(wanted)}"
    if sign == "!=":
        return f"({_equal(name, wanted)}) =!= true"
    if sign == "in":
        each = label_conditions.listed(wanted)
        texts = [value for value in each if label_conditions.number(value) is None]
        numbers = [value for value in each if label_conditions.number(value) is not None]
        return f"({' || '.join(_equal(name, value) for value in [*texts, *numbers])})"
    return _equal(name, wanted)


def _equal(name: str, wanted: str) -> str:
    if label_conditions.number(wanted) is None:
        return f"{name} =?= {value_text(wanted)}"
    return f"{name} == {_number(wanted)}"


def _number(text: str) -> str:
    """As the language has numbers.

    >>> _number("16"), _number("1e3")
    ('16', '1000')
    """
    value = label_conditions.number(text) or 0.0
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
