"""The plain requirements of the submit form as a request in ClassAds, and clause by clause what they leave."""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.accounts.models import User
from gridportal.accounts.selectors import groups_of
from gridportal.base.errors import GridPortalError
from monitoring.telemetry.core.figures import FORECAST
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching.core.plain_ads import plain_ad
from scheduling.matching.services import match_texts
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.resource_requests.match_story import MatchStory, story_of
from scheduling.resource_requests.services.resource_monitor import MONITOR

_SECONDS = 1.0


@dataclass(frozen=True)
class PlainMatch:
    """text: the request that the fields make; passing, pool: how many nodes satisfy it, of how many; story: clause by
    clause."""

    text: str
    passing: int
    pool: int
    story: MatchStory


def plain_match(spec: JobSpec, owner: User) -> PlainMatch | None:
    """What the plain fields ask of each node, matched with the nodes as they are; None while nothing is known of the
    cluster, and where nothing is asked.

    The text is made of values that were checked, so that it is matched in this process.
    """
    text = plain_ad(spec.requirements)
    if text == plain_ad(type(spec.requirements)()):
        return None
    try:
        pool = MONITOR.pool(spec.cluster, forecast=spec.requirements.figures == FORECAST)
        question = MatchQuestion(
            text, pool.text, explain=True, seconds=_SECONDS, owner=owner.username, groups=groups_of(owner)
        )
        answer = match_texts.answer(question)
    except GridPortalError:
        return None
    return PlainMatch(text, answer.passing, answer.pool, story_of(answer))
