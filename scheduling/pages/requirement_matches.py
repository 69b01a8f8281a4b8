"""What a job asks of its nodes, clause by clause, on the nodes as they are: its plain fields, its request in ClassAds,
room for its ranks and how many there are, explained in one way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from gridportal.accounts.models import User
from gridportal.accounts.selectors import groups_of
from gridportal.base.errors import GridPortalError
from monitoring.telemetry.core.figures import FORECAST
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching.core.answers import MatchAnswer
from scheduling.matching.core.language.ad_reader import read_ad
from scheduling.matching.core.language.paper_forms import is_set_request
from scheduling.matching.core.plain_ads import job_ad, plain_ad
from scheduling.matching.core.resource_ads import JobRoom, PoolSource, pool_ads, pool_records
from scheduling.matching.core.topology_ads import bandwidths_between
from scheduling.matching.services import match_texts
from scheduling.matching.services.limited_match import limited_match
from scheduling.matching.services.mapper_rests import asked_unless_resting
from scheduling.matching.services.mapping import with_shares
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.placing.selectors.occupancy import occupancy
from scheduling.placing.services.matched_nodes import open_sizes
from scheduling.placing.services.requests import with_cluster_defaults
from scheduling.resource_requests.match_story import MatchStory, story_of
from scheduling.resource_requests.services.resource_monitor import MONITOR

_SECONDS = 2.0


@dataclass(frozen=True)
class RequirementMatch:
    """text: the request that the plain fields make, empty where they ask nothing; answer: with its explanation; story:
    the same for a page; is_own: there is a request in ClassAds."""

    text: str
    answer: MatchAnswer
    story: MatchStory
    is_own: bool = False

    @property
    def is_worth_showing(self) -> bool:
        """Whether something was asked of nodes, or there are not enough."""
        return bool(self.text) or self.is_own or not self.answer.machines


def requirement_match(
    spec: JobSpec, owner: User, until: float = math.inf, *, is_mapped: bool = False
) -> RequirementMatch | None:
    """What a job asks, matched with the nodes of its cluster whoever uses them; None while nothing is known of these,
    and where the match took too long. `until`: as of limited_match. is_mapped: the mapper that the request names is
    asked too."""
    try:
        source = MONITOR.source(spec.cluster, forecast=spec.requirements.figures == FORECAST)
        source = replace(source, room=_room(spec, source))
        question = _question(spec, owner, source)
        # What plain fields make is of checked values: only a text of somebody's own needs a process of its own.
        if spec.classad.strip():
            answer = limited_match(replace(question, resources=pool_ads(source)), until)
            between = partial(bandwidths_between, source.network)
            ask = partial(asked_unless_resting, until=until)
            answer = with_shares(answer, between, ask) if is_mapped else answer
        else:
            answer = match_texts.answer(question, pool_records(source))
    except GridPortalError:
        return None
    text = plain_ad(spec.requirements)
    text = "" if text == plain_ad(type(spec.requirements)()) else text
    return RequirementMatch(text, answer, story_of(answer), bool(spec.classad.strip()))


def job_match(job: Job) -> RequirementMatch | None:
    """The same for a job that was submitted, with the order and shares of its mapper; None also where its requirements
    cannot be read any more, and for a job that was read from a log, which asked nothing of nodes."""
    if job.method == "log":
        return None
    if isinstance(job.requirements, Unreadable) or isinstance(job.specification, Unreadable):
        return None
    return requirement_match(JobSpec.from_row(job), job.owner, is_mapped=True)


def _question(spec: JobSpec, owner: User, source: PoolSource) -> MatchQuestion:
    text = spec.classad.strip() or "[]"
    ranks = None if spec.ranks_open else spec.rank_request
    nodes = len(source.network.compute_nodes())
    sizes = open_sizes(spec.application.rank_limits, spec.ranks_per_node or 1, nodes) if spec.ranks_open else ()
    besides = job_ad(spec.requirements, ranks, in_a_set=is_set_request(read_ad(text).ad))
    return MatchQuestion(
        text,
        "",
        explain=True,
        seconds=_SECONDS,
        owner=owner.username,
        groups=groups_of(owner),
        sizes=sizes,
        besides=besides,
    )


def _room(spec: JobSpec, source: PoolSource) -> Mapping[str, JobRoom]:
    """What each node is to the job, whoever uses it."""
    options = with_cluster_defaults(spec.options, spec.cluster)
    asked = spec.rank_request
    seen = occupancy(spec.cluster, options, spec.time_limit, asked, mpi=spec.application.mpi)
    most = 1 if asked.is_one_a_node else asked.total
    return {
        node.id: JobRoom(
            slots=min(most, seen.slots.get(node.id, 1)),
            is_allowed=node.id not in spec.specification.exclude and not _is_barred(node.id, seen.unfit, seen.slots),
        )
        for node in source.network.compute_nodes()
    }


def _is_barred(node: str, unfit: Mapping[str, str], slots: Mapping[str, int]) -> bool:
    """Whether the cluster's options keep the node from the job: it is not closed, and not only too small."""
    return node in unfit and not unfit[node] and slots.get(node, 1) > 0
