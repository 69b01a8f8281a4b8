"""Whether a text is a request or an ad, with the place of the fault: read here, checked by HTCondor's library apart."""

from __future__ import annotations

import re
from functools import lru_cache

from gridportal.base.errors import Described, InputError
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.matching.core.language.ad_errors import AdError, MeaningError
from scheduling.matching.core.language.ad_reader import AdText, read_ad
from scheduling.matching.core.language.ad_writer import PEOPLES_WRITER
from scheduling.matching.core.request_elements import check_job_elements
from scheduling.matching.core.sets.asked_sizes import clause_against
from scheduling.matching.services.limited_match import limited_match
from scheduling.matching.services.match_texts import MatchQuestion

#: Characters of a request or an ad that the portal keeps.
LONGEST_KEPT = 20_000
_CHECK_SECONDS = 5.0
#: Characters that no editor shows; tabs and ends of lines are no such.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def read_request(text: str, field: str = "request") -> AdText:
    """A request as a value. Raises AdError with the place of what cannot be read, InputError for one that is too long
    to be kept."""
    if len(text) > LONGEST_KEPT:
        raise InputError(field, f"{len(text)} characters", f"a request of at most {LONGEST_KEPT} characters")
    if control := _CONTROL.search(text):
        raise AdError(text, control.start(), "a text without control characters", field)
    return read_ad(text, field)


def check_request(text: str, field: str = "request") -> AdText:
    """The same, and whether it means something: an aggregate of an aggregate does not. Raises MatchTextError."""
    read = read_request(text, field)
    limited_match(MatchQuestion(text, "", request_source=field, seconds=_CHECK_SECONDS))
    return read


@lru_cache(256)
def check_job_request(text: str, field: str = "classad") -> None:
    """As `check_request`, once for each text that means something, for nodes of a job: it has no time to wait."""
    try:
        check_job_elements(read_request(text, field).ad)
    except MeaningError as error:
        raise error.placed(text, field) from error
    check_request(text, field)


def check_set_size(text: str, asked: RankRequest, field: str = "classad") -> None:
    """Raises InputError for a request of a job whose sets cannot have as many machines as the job asks for nodes, or
    have more than its ranks where it asks for no nodes."""
    least, most = (asked.nodes, asked.nodes) if asked.nodes is not None else (1, asked.total)
    clause = clause_against(read_request(text, field).ad, least, most)
    if clause is None:
        return
    kind, bound = ("rank", "at most ") if asked.nodes is None else ("node", "")
    plural = "s" * (most != 1)
    accepted = f"a set of {bound}{most} machine{plural}, as the job asks for {most} {kind}{plural}"
    raise InputError(field, Described(PEOPLES_WRITER.text(clause)), accepted)


def check_policy(text: str, field: str = "ad") -> None:
    """Raises InputError for what is no ad of a resource."""
    read_request(text, field)
    limited_match(MatchQuestion("[]", text, resources_source=field, seconds=_CHECK_SECONDS))
