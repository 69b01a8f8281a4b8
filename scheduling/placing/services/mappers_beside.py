"""Mappers of other packages while jobs are placed: one that takes its time is asked beside the round. Its job waits for
the answer, and the others are placed meanwhile.

Who is asked is known to this process alone: another one, or a new one, asks again.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from gridportal.base.plugin_processes import is_shipped
from gridportal.base.reasons import Code, Reason
from scheduling.matching.core.mapping.mapper_interface import GROUP, MapperQuestion
from scheduling.matching.services.mapper_rests import LIMIT, asked_unless_resting
from scheduling.matching.services.mapping import MapperReply
from scheduling.placing.services.choosing import WaitsError

#: Seconds that a round waits for a mapper, as it does for a performance model.
PATIENCE = 3.0
#: So many mappers are asked beside rounds at a time; the next ones wait for one of these.
_MOST = 4
#: After so many questions about machines that others took meanwhile, a round waits for the next one to the end.
_MOST_IN_VAIN = 3
#: Seconds after its question for which an answer that was waited for holds: what was measured changes meanwhile.
_KEPT = 120.0


@dataclass(frozen=True, slots=True)
class _Question:
    """Of a job, by its number, to a mapper about machines in this order."""

    job: int
    mapper: str
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Begun at a time of the monotonic clock."""

    reply: Future[MapperReply]
    at: float

    @property
    def is_open(self) -> bool:
        return not self.reply.done()


_lock = threading.Lock()
_asked: dict[_Question, _Asked] = {}
_threads = ThreadPoolExecutor(_MOST, thread_name_prefix="mapper")


def check(job: int) -> None:
    """Raises WaitsError while the mapper of a job, by its number, is still asked."""
    with _lock:
        mapper = next((each.mapper for each, found in _asked.items() if each.job == job and found.is_open), None)
    if mapper is not None:
        raise _waits(mapper)


def ask(job: int, name: str, question: MapperQuestion) -> MapperReply:
    """As asked_unless_resting, for a job by its number. Raises WaitsError where a mapper of another package takes
    longer than PATIENCE, or is still asked for another job; who asks the same once it has answered gets that answer."""
    if is_shipped(GROUP, name):
        return asked_unless_resting(name, question)
    key = _Question(job, name, tuple(machine.dns for machine in question.machines))
    with _lock:
        _forget_old()
        seconds = _patience(job, name)
        earlier = _asked.get(key)
        found = earlier or _Asked(_threads.submit(asked_unless_resting, name, question), time.monotonic())
        _asked[key] = found
    wait([found.reply], timeout=seconds)
    if found.is_open:
        raise _waits(name)
    if earlier is None:
        with _lock:
            _asked.pop(key, None)
    return found.reply.result()


def _patience(job: int, name: str) -> float:
    """Seconds that a round waits: none where the mapper is slow for others already."""
    if sum((each.job, each.mapper) == (job, name) for each in _asked) >= _MOST_IN_VAIN:
        return LIMIT
    return 0.0 if any(each.mapper == name and found.is_open for each, found in _asked.items()) else PATIENCE


def _forget_old() -> None:
    now = time.monotonic()
    for key in [key for key, found in _asked.items() if not found.is_open and now - found.at > _KEPT]:
        del _asked[key]


def _waits(mapper: str) -> WaitsError:
    return WaitsError(Reason.of(Code.MAPPER_ASKED, mapper=mapper))
