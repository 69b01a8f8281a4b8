"""Of submissions that come together one message to the workers is enough: a round places all jobs that wait.

Who writes a job down sends a message only when none is under way to this cluster; the worker forgets that one was
before it looks. So no job is missed: it was written before a message was left out, and that message's round comes
later. A message that is lost stands in the way of others for some seconds; beat starts the same work as often.
"""

from __future__ import annotations

from django.conf import settings
from django.core.cache import cache

_SECONDS = 3.0


def is_first(cluster: str) -> bool:
    """Whether a message is to be sent. Always where processes share no memory, for want of Redis."""
    return not settings.PORTAL.redis_url or cache.add(_key(cluster), 1, _SECONDS)


def forget(cluster: str) -> None:
    """Whoever asks from now on sends a message again."""
    cache.delete(_key(cluster))


def _key(cluster: str) -> str:
    return f"placing-asked|{cluster}"
