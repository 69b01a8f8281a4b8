"""Set matching done plainly, to compare with: the paper's listing, and every rank by HTCondor's library over lists."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import classad2

from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_reader import read_ad, read_ads
from scheduling.matching.core.language.ad_syntax import Call, Expression, Literal, Record, Special
from scheduling.matching.core.language.ad_writer import value_text
from scheduling.matching.core.language.library_text import LibraryWriter
from scheduling.matching.core.sets.set_request import SetRequest

#: Ranks of all kinds: monotone, falling with more members, with nothing sure about them.
RANKS = (
    "Min(other.bw)",
    "1/Max(5.0/other.bw)",
    "Min({Min(other.bw), Sum(other.cpu)*20})",
    "Min({Min(other.bw), Sum(other.cpu)*20, 100-Max(other.t)})",
    "Min(other.bw)*SetSize",
    "Min(other.bw)-SetSize",
    "Sum(other.gain)",
    "-Sum(other.cpu)",
    "-Max(other.t)+Sum(other.gain)",
    "Min(other.bw)/Sum(other.cost)",
    "Sum(other.mem)/Max(other.mem)",
    "Sum(other.cpu)-Sum(other.cost)",
    "Max(other.bw)-Min(other.bw)",
    "SetSize",
)
REQUIREMENTS = (
    "true",
    "Sum(other.mem)>100",
    "SetSize<=4",
    "SetSize==3",
    "Sum(other.mem)>100 && SetSize<6",
    "Sum(other.cost)<=8 && Sum(other.mem) > 60",
)


def resources(rng: random.Random, count: int) -> str:
    """Ads of machines; some values are alike."""
    return "".join(
        f'[name="n{number}"; bw={rng.choice([rng.uniform(1, 100), rng.randrange(1, 9) * 10]):.3f}; '
        f"t={rng.uniform(1, 100):.2f}; cpu={rng.uniform(0.1, 1):.4f}; mem={rng.randrange(1, 64)}; "
        f"cost={rng.randrange(1, 6)}; gain={rng.uniform(-5, 5):.2f}]\n"
        for number in range(count)
    )


def request(rank: str, requirements: str = "true") -> Record:
    """A set request."""
    return read_ad(f'[Type="Set"; requirements={requirements}; rank={rank}]').ad


def pool(text: str) -> Pool:
    return Pool(read_ads(text)[0])


class NaiveSets:
    """Ranks and requirements of sets, each by the library from the lists of its members' values."""

    def __init__(self, ad: Record, machines: Pool) -> None:
        self.request = SetRequest(ad, machines)
        library = Library()
        self._values = {
            call: library.of_request(ad, machines.ads, call.arguments[0]) for call in self.request.aggregates
        }

    def value(self, expression: Expression, members: Sequence[int]) -> object:
        """The value of an expression about a set."""
        lists = {
            call: f"{call.function}({{{','.join(value_text(values[member]) for member in members)}}})"
            for call, values in self._values.items()
        }
        writer = LibraryWriter(self.request.ad, Record({}), {**lists, Call("setsize", ()): str(len(members))})
        own = classad2.ClassAd(writer.ad(self.request.ad))
        own["SetSize"] = len(members)
        return classad2.ExprTree(writer.text(expression)).eval(own)

    def rank(self, members: Sequence[int]) -> float | None:
        """The rank of a set; None for no number."""
        value = self.value(self.request.rank or Literal(0), members)
        is_number = isinstance(value, int | float) and not isinstance(value, classad2.Value)
        return float(value) if is_number else None

    def meets(self, members: Sequence[int]) -> bool:
        """Whether all clauses about the set are true."""
        values = [self.value(clause, members) for clause in self.request.collective]
        return all(not isinstance(value, classad2.Value | str) and bool(value) for value in values)

    def best(self, left: Sequence[int]) -> float | None:
        """The highest rank of any set of some resources."""
        sets = (s for size in range(1, len(left) + 1) for s in itertools.combinations(left, size))
        ranks = [rank for each in sets if self.meets(each) and (rank := self.rank(each)) is not None]
        return max(ranks, default=None)

    def greedy(self, left: Sequence[int]) -> tuple[tuple[int, ...], float] | None:
        """The listing of Set matching 2002, 2.3; LastRank begins below all."""
        resource_set, candidate_set = list(left), []
        best_set, last_rank = None, float("-inf")
        while resource_set:
            following = max(resource_set, key=lambda each: _ordered(self.rank([*candidate_set, each])))
            resource_set.remove(following)
            candidate_set.append(following)
            rank = self.rank(candidate_set)
            if rank is not None and self.meets(candidate_set) and rank > last_rank:
                best_set, last_rank = (tuple(candidate_set), rank), rank
        return best_set


def _ordered(rank: float | None) -> float:
    return float("-inf") if rank is None else rank


def as_ours(value: object) -> object:
    """A value of the library as one of ours; what is no scalar, or has no end, is an error."""
    if value is classad2.Value.Undefined:
        return Special.UNDEFINED
    if isinstance(value, classad2.Value) or not isinstance(value, bool | int | float | str):
        return Special.ERROR
    return Special.ERROR if isinstance(value, float) and not math.isfinite(value) else value
