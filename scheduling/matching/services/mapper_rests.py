"""Mappers that ran into their time limit: they are not asked again for a while, for everybody's jobs wait behind them.

Which ones rest stands in the portal's cache: with Redis all processes share it, else each has its own.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from gridportal.base.plugin_processes import is_shipped
from scheduling.matching.core.mapping.mapper_interface import GROUP, MapperQuestion
from scheduling.matching.match_messages import late_message
from scheduling.matching.services.mapping import MapperReply, mapped

#: Seconds in which a mapper must have answered.
LIMIT = 10.0
#: Seconds for which one rests that did not.
REST = 60


def asked_unless_resting(
    name: str, question: MapperQuestion, *, limit: float = LIMIT, until: float = math.inf
) -> MapperReply:
    """As `mapped`, but a mapper that ran into its limit rests. until: on the monotonic clock, when whoever asks has
    waited long enough; a mapper that had less than its limit for that reason does not rest."""
    machines = len(question.machines)
    if (resting := rests_until(name, machines)) is not None:
        return MapperReply(failure=late_message(*resting))
    left = until - time.monotonic()
    if left <= 0:
        return MapperReply(failure="there was no time left to ask it")
    reply = mapped(name, question, min(limit, left))
    if not reply.is_late or left < limit:
        return reply
    return replace(reply, failure=late_message(let_rest(name, machines, limit), limit))


def rests_until(name: str, machines: int) -> tuple[datetime, float] | None:
    """When a mapper is asked again about so many machines, and the seconds in which it did not answer; None: now.

    One of the portal's own only rests from questions that are at least as large as the one it was too slow for.
    """
    kept: Mapping[str, Any] | None = cache.get(_key(name))
    if kept is None or (machines < kept["machines"] and is_shipped(GROUP, name)):
        return None
    until = datetime.fromtimestamp(kept["until"], UTC)
    return (until, kept["limit"]) if until > timezone.now() else None


def let_rest(name: str, machines: int, limit: float) -> datetime:
    """Do not ask a mapper for a while that had so many seconds for so many machines; when it is asked again."""
    until = timezone.now() + timedelta(seconds=REST)
    cache.set(_key(name), {"until": until.timestamp(), "limit": limit, "machines": machines}, REST)
    return until


def _key(name: str) -> str:
    """A name may have letters that no key of a cache has."""
    return f"mapper-rests|{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
