"""The request that the plain requirements of a job make: what single nodes have to have, in ClassAds."""

from __future__ import annotations

from collections.abc import Iterator

from scheduling.jobs.core import label_conditions
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
    clauses = list(_clauses(asked))
    joined = "\n    && ".join(clauses) if clauses else "true"
    return f"[\n  requirements = {joined}\n]"


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
