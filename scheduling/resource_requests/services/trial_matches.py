"""Trying a request without keeping it: for forms that say what a text would find while it is written."""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.accounts.models import User
from gridportal.base.errors import BusyError, GridPortalError, InputError, TextError
from gridportal.web.long_answers import long_answer
from monitoring.clusters import selectors as clusters
from scheduling.matching.core.answers import MatchAnswer
from scheduling.matching.core.language.ad_syntax import Record
from scheduling.matching.services.checked_texts import read_request
from scheduling.matching.services.matches_at_once import match_of
from scheduling.resource_requests.services.request_attempts import answer_now
from scheduling.resource_requests.services.resource_monitor import MONITOR


@dataclass(frozen=True, slots=True)
class TriedMatch:
    """What a text would find. problem: why it cannot be read or tried, None where it was; line, column: where that is,
    0 where it is about no place; pointer: that line with a mark. ad: the request as it was read."""

    answer: MatchAnswer | None = None
    ad: Record | None = None
    problem: GridPortalError | None = None
    line: int = 0
    column: int = 0
    pointer: str = ""


def try_match(
    owner: User, text: str, cluster: str = "", *, forecast: bool = False, field: str = "request"
) -> TriedMatch:
    """Match a request with the resources of a cluster as they are, `cluster` "" for the first; field: what sentences
    call the text. Raises InputError for a cluster that is not set up, BackendError while nothing is known of it,
    BusyError while too much of this person is matched."""
    pool = MONITOR.pool(cluster or clusters.default_cluster(), forecast=forecast)
    try:
        ad = read_request(text, field).ad
        with long_answer(owner.pk), match_of(owner.pk):
            return TriedMatch(answer_now(owner, text, pool, field=field), ad)
    except BusyError:
        raise
    except TextError as error:
        return TriedMatch(None, None, error, error.line, error.column, error.pointer)
    except (InputError, GridPortalError) as error:
        return TriedMatch(problem=error)
