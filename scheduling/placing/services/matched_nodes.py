"""Nodes for a job whose requirements are a request in ClassAds: matching says which, the mapper in which order, and the
selection puts the ranks on them and explains.

Source: Set matching 2002, 3.1: select, configure, map. The number of machines comes out of the match.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.accounts.selectors import groups_of
from gridportal.base.errors import GridPortalError, ImpossibleError, InputError
from gridportal.base.reasons import Code, Reason
from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import LinkTable, latencies
from gridportal.network.topology import Topology
from monitoring.status.selectors.network_status import NetworkStatus
from scheduling.jobs.core import patterns, ranks
from scheduling.jobs.core.application_specification import ApplicationSpecification, Pin
from scheduling.jobs.core.ranks import Limits
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching import match_messages
from scheduling.matching.core.answers import Machine, MatchAnswer, StatusCode
from scheduling.matching.core.language.ad_reader import read_ad
from scheduling.matching.core.language.paper_forms import is_set_request
from scheduling.matching.core.resource_ads import PoolSource, pool_ads
from scheduling.matching.core.topology_ads import bandwidths_between
from scheduling.matching.selectors import policies, resource_ads
from scheduling.matching.services.limited_match import limited_match
from scheduling.matching.services.mapper_rests import asked_unless_resting
from scheduling.matching.services.mapping import Ask, with_shares
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.placing.core.match_notes import NO_NOTES, MatchNotes, notes_of
from scheduling.placing.selectors.node_facts import node_facts
from scheduling.placing.services import mappers_beside
from scheduling.placing.services.choosing import Answer, Choice, WaitsError
from scheduling.selection.core.placement import Request, Selection
from scheduling.selection.core.slots.node_slots import slots

#: The request of a job without one: administrators' ads of nodes may ask who it is all the same.
ANYTHING = "[]"
_SECONDS = 5.0


@dataclass(frozen=True)
class MatchedJob:
    """Whose job it is, and what it asks for: text, the request; limits: how many ranks the program can have;
    ranks_open: the match says how many; ranks_per_node: then so many on each machine."""

    text: str
    owner: str
    groups: tuple[str, ...]
    cluster: str
    limits: Limits
    ranks_open: bool
    ranks_per_node: int = 1


@dataclass
class MatchedNodes:
    """Answers as choosing.answer does, among the nodes that the request matches. inner: who selects among these.

    shares: by the nodes of a selection, what part of the work its mapper gave each machine; notes: by the nodes of each
    of its candidates, what the match has to say; answers: by the nodes that could be had, so that equal questions are
    asked once. until: as of limited_match.
    """

    job: MatchedJob
    inner: Answer
    shares: dict[tuple[str, ...], Mapping[str, float]] = field(default_factory=dict)
    notes: dict[tuple[str, ...], MatchNotes] = field(default_factory=dict)
    answers: dict[tuple[tuple[str, ...], int | None], MatchAnswer] = field(default_factory=dict)
    until: float = math.inf
    ask: Ask | None = None

    def __call__(self, status: NetworkStatus, asked: Request) -> Selection:
        """Raises ImpossibleError where nothing matches, or where the selection has none among what does."""
        answer = self._found(status, asked)
        usable, is_set = _usable(status, asked), self._chooses_set
        notes = notes_of(answer, usable, is_set=is_set, by_request=self.job.text != ANYTHING, with_ads=self._with_ads)
        if not is_set:
            asked = replace(asked, exclude=_others(status, answer.candidates))
            return self._noted(self.inner(status, asked), notes)
        names = tuple(machine.dns for machine in answer.machines)
        selection = self._noted(self.inner(status, self._narrowed(asked, status, answer, names)), notes)
        given = {machine.dns: machine.share for machine in answer.machines if machine.share is not None}
        if given:
            self.shares[selection.nodes] = given
        return selection

    def notes_on(self, selection: Selection) -> MatchNotes:
        """What the match has to say of a selection that was made here."""
        return self.notes.get(selection.nodes, NO_NOTES)

    @property
    def _chooses_set(self) -> bool:
        """The match chooses the set, and does not only say which nodes may be in one."""
        return self.job.ranks_open or is_set_request(read_ad(self.job.text).ad)

    @cached_property
    def _with_ads(self) -> frozenset[str]:
        return frozenset(resource_ads(self.job.cluster).values_list("node", flat=True))

    def _noted(self, selection: Selection, notes: MatchNotes) -> Selection:
        """The selection with its notes kept, and with a reason that claims no more than was compared."""
        self.notes.update(dict.fromkeys((candidate.nodes for candidate in selection.candidates), notes))
        first, *others = selection.candidates
        if not notes.among or first.reason.code is Code.ONE_MACHINE:
            return selection
        reason = Reason.of(Code.BEST_OF_MATCHED, among=notes.among, why=first.reason)
        return replace(selection, candidates=(replace(first, reason=reason), *others))

    def check_named(self, status: NetworkStatus, asked: Request, names: Sequence[str]) -> None:
        """Raises ImpossibleError where the request does not match all of the nodes that somebody named."""
        answer = self._found(status, asked)
        missing = [name for name in names if name not in answer.candidates]
        if missing:
            raise ImpossibleError(match_messages.unmatched_message(missing[0], self.job.text))

    def _found(self, status: NetworkStatus, asked: Request) -> MatchAnswer:
        key = (_usable(status, asked), None if self.job.ranks_open else asked.node_count)  # else the match says it
        if key not in self.answers:
            self.answers[key] = self._reused(status, *key) or self._matched(status, asked, key[0])
        answer = self.answers[key]
        if not answer.machines:
            raise ImpossibleError(match_messages.none_message(answer))
        return answer

    def match_all(self, status: NetworkStatus, asked: Request) -> None:
        """Match the nodes of a question; what is asked about some of them then needs no match of its own, as a rule."""
        with suppress(ImpossibleError):
            self._found(status, asked)

    def _reused(self, status: NetworkStatus, usable: tuple[str, ...], count: int | None) -> MatchAnswer | None:
        """The answer for these nodes from that for more of them, None where it does not tell: the best set of all is
        the best of some that hold it; single resources are judged one by one. A node's ad tells of its best link, which
        may lead to one of the others."""
        for (names, nodes), answer in self.answers.items():
            if nodes != count or not set(usable) <= set(names):
                continue
            found = _within(answer, set(usable), is_set=self._chooses_set)
            if found and _best_links(status.topology, names, usable) == _best_links(status.topology, usable, usable):
                return found
        return None

    def settled(self, asked: Request, choice: Choice) -> tuple[Request, Choice]:
        """The question with as many ranks as the match has, and the choice with the mapper's shares."""
        nodes = choice.selection.nodes
        choice = replace(choice, shares=self.shares.get(nodes, {}))
        if not self.job.ranks_open:
            return asked, choice
        pattern = choice.selection.pattern or asked.pattern
        return replace(asked, nodes=len(set(nodes)), ranks=len(nodes), pattern=pattern), choice

    def _matched(self, status: NetworkStatus, asked: Request, usable: Sequence[str]) -> MatchAnswer:
        network = _only(status.topology, usable)
        facts = {name: replace(each, jobs=0) for name, each in node_facts(self.job.cluster).items()}
        source = PoolSource(self.job.cluster, network, facts, policies(self.job.cluster), timezone.localtime())
        question = MatchQuestion(
            self.job.text,
            pool_ads(source),
            explain=True,
            seconds=_SECONDS,
            owner=self.job.owner,
            groups=self.job.groups,
            sizes=self._sizes(asked, len(usable)),
            names_candidates=True,
        )
        between = partial(bandwidths_between, status.topology)
        try:
            ask = self.ask or partial(asked_unless_resting, until=self.until)
            return with_shares(limited_match(question, self.until), between, ask)
        except (InputError, WaitsError):
            raise
        except GridPortalError as error:  # it took too much time or memory: no matter of the round
            raise ImpossibleError(str(error)) from error

    def _sizes(self, asked: Request, usable: int) -> tuple[tuple[int, int], ...]:
        """How many machines the set may have."""
        if not self.job.ranks_open:
            return ((asked.node_count,) * 2,) if asked.node_count is not None else ((1, asked.rank_count),)
        return open_sizes(self.job.limits, self.job.ranks_per_node, usable)

    def _narrowed(self, asked: Request, status: NetworkStatus, answer: MatchAnswer, names: tuple[str, ...]) -> Request:
        """The question about these machines alone, in the mapper's order where one gave an order."""
        count = len(names) * self.job.ranks_per_node if self.job.ranks_open else asked.rank_count
        narrowed = replace(asked, exclude=_others(status, names), nodes=len(names), ranks=count)
        if asked.pattern is not None and asked.pattern.ranks != count:
            narrowed = replace(narrowed, pattern=_resized(asked.pattern.name, count))
        in_order = answer.mapper is not None and not answer.mapper.failure
        own = asked.specification
        if not in_order or (own is not None and (own.pins or own.groups)):
            return narrowed
        pins = tuple(Pin(rank, (node,)) for rank, node in enumerate(rank_nodes(names, count)))
        return replace(narrowed, specification=replace(own or ApplicationSpecification(), pins=pins))


def of_row(job: Job, inner: Answer) -> MatchedNodes:
    """For a job that is placed; its mapper does not hold up the others. Raises WaitsError while it is still asked."""
    mappers_beside.check(job.pk)
    ask = partial(mappers_beside.ask, job.pk)
    return MatchedNodes(_matched_job(job, job.owner, ranks_open=job.ranks_open), inner, ask=ask)


def of_moved(job: Job, inner: Answer) -> MatchedNodes:
    """For a job that goes on elsewhere, on as many ranks as the question says."""
    return MatchedNodes(_matched_job(job, job.owner, ranks_open=False), inner)


def of_spec(request: JobSpec, owner: User | None, inner: Answer, until: float = math.inf) -> MatchedNodes:
    """For a job that somebody thinks of."""
    return MatchedNodes(_matched_job(request, owner, ranks_open=request.ranks_open), inner, until=until)


def _matched_job(asked: Job | JobSpec, owner: User | None, *, ranks_open: bool) -> MatchedJob:
    name, groups = (owner.username, groups_of(owner)) if owner else ("", ())
    limits = asked.application.rank_limits
    return MatchedJob(
        asked.classad.strip() or ANYTHING, name, groups, asked.cluster, limits, ranks_open, asked.ranks_per_node or 1
    )


def rank_nodes(machines: Sequence[str], count: int) -> list[str]:
    """The machine of each rank: machines in their order, ranks as even as can be.

    >>> rank_nodes(["b", "a"], 3)
    ['b', 'b', 'a']
    """
    least, more = divmod(count, len(machines))
    return [name for place, name in enumerate(machines) for _ in range(least + (place < more))]


def open_sizes(limits: Limits, each: int, usable: int) -> tuple[tuple[int, int], ...]:
    """How many machines a set may have where the match says how many: so many ranks on each, within what the program
    can have, of so many usable nodes."""
    return runs_of([size for size in range(1, usable + 1) if ranks.allows(limits, size * each)])


def runs_of(sizes: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Rising numbers as runs from the least to the most; one that nothing has where there are none.

    >>> runs_of([1, 2, 3, 8]), runs_of([])
    (((1, 3), (8, 8)), ((0, 0),))
    """
    made: list[tuple[int, int]] = []
    for size in sizes:
        if made and made[-1][1] == size - 1:
            made[-1] = (made[-1][0], size)
        else:
            made.append((size, size))
    return tuple(made) or ((0, 0),)


def _usable(status: NetworkStatus, asked: Request) -> tuple[str, ...]:
    """The compute nodes that the job may have, and that have room for a rank."""
    nodes = [node for node in status.topology.compute_nodes() if node.id not in asked.excluded]
    return tuple(node.id for node in nodes if asked.slots is None or slots(asked, node) > 0)


def _within(answer: MatchAnswer, some: Collection[str], *, is_set: bool) -> MatchAnswer | None:
    """An answer among some of the resources; None where it does not follow from that among all."""
    passing = tuple(name for name in answer.candidates if name in some)
    if not answer.machines and answer.status is not StatusCode.OUT_OF_TIME and (answer.exact or not passing):
        return replace(answer, candidates=passing)
    if answer.machines and all(machine.dns in some for machine in answer.machines):
        return replace(answer, candidates=passing)
    if is_set or not passing or not answer.machines:
        return None
    return replace(answer, machines=(Machine(passing[0], 1),), candidates=passing)


def _best_links(topology: Topology, among: Sequence[str], of: Sequence[str]) -> list[list[float]]:
    """Of some nodes the bit/s and the seconds of their best links where only the nodes `among` are there."""
    columns = link_columns(network := _only(topology, among))
    fastest, nearest = np.zeros(len(network.nodes)), np.full(len(network.nodes), np.inf)
    for ends in (columns.source, columns.target):
        np.maximum.at(fastest, ends, columns.bandwidth)
        np.minimum.at(nearest, ends, latencies(network.links))
    places = [columns.place[name] for name in of]
    return [fastest[places].tolist(), nearest[places].tolist()]


def _resized(name: str, count: int) -> patterns.Pattern:
    try:
        return patterns.named(name, count)
    except InputError as error:
        raise ImpossibleError(str(error)) from error


def _others(status: NetworkStatus, names: Sequence[str]) -> frozenset[str]:
    return frozenset(node.id for node in status.topology.compute_nodes()) - frozenset(names)


def _only(topology: Topology, usable: Sequence[str]) -> Topology:
    """A network whose compute nodes are these."""
    kept = set(usable)
    nodes = tuple(node for node in topology.nodes if node.kind != "compute" or node.id in kept)
    ends = {node.id for node in nodes}
    if isinstance(topology.links, LinkTable):
        return replace(topology, nodes=nodes, links=topology.links.among(ends))
    links = tuple(link for link in topology.links if link.source in ends and link.target in ends)
    return replace(topology, nodes=nodes, links=links)
