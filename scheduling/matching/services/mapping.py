"""Asking a mapper, in a process of its own with a time limit: what it does wrong stops nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from gridportal.base.errors import ShellError
from gridportal.base.plugin_processes import ask_apart, failure_of, is_shipped, plugin_names, shared_names
from gridportal.base.processes import TooSlowError
from scheduling.matching.core.answers import MapperReport, MatchAnswer
from scheduling.matching.core.language.ad_errors import NO_PLACE, Notice, NoticeCode
from scheduling.matching.core.mapping.mapper_interface import (
    GROUP,
    MappedShare,
    MapperQuestion,
    checked,
)

_LONGEST_FAILURE = 2000
#: Of a sum of fractions.
_ROUNDING = 1e-6
_PROCESS = "scheduling.matching.services.mapper_process"

#: The bandwidths between machines by their names, as MapperQuestion has them.
Bandwidths = Callable[[Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True)
class MapperReply:
    """shares: in the order of the mapper; failure: what it said, empty where it answered; seconds: how long it took;
    is_late: it had not answered when the time was over."""

    shares: tuple[MappedShare, ...] = ()
    failure: str = ""
    seconds: float = 0.0
    is_late: bool = False


#: Who asks a mapper, by its name.
Ask = Callable[[str, MapperQuestion], MapperReply]


def mapped(name: str, question: MapperQuestion, seconds: float) -> MapperReply:
    """The answer of a mapper, at most so many seconds later."""
    started = time.perf_counter()
    text = msgspec.json.encode(question).decode()
    try:
        done = ask_apart(_PROCESS, name, text, seconds)
    except TooSlowError:
        return MapperReply(
            failure=f"no answer within {seconds:.3g} s", seconds=time.perf_counter() - started, is_late=True
        )
    except ShellError as error:
        return MapperReply(failure=str(error), seconds=time.perf_counter() - started)
    took = time.perf_counter() - started
    try:
        shares = checked(msgspec.json.decode(done.stdout, type=list[MappedShare]), len(question.machines))
    except ValueError as error:
        return MapperReply(failure=(failure_of(done) or str(error))[-_LONGEST_FAILURE:], seconds=took)
    return MapperReply(shares, seconds=took)


def with_shares(answer: MatchAnswer, bandwidths: Bandwidths, ask: Ask) -> MatchAnswer:
    """The machines in the order and with the shares of the mapper; as they were where it fails or none is named.

    bandwidths: what is known of pairs of machines, by their names. ask: `mapped` with a limit, or
    `asked_unless_resting`.
    """
    if answer.mapping is None:
        return answer
    name, question = answer.mapping.name, answer.mapping.question
    known_pairs = bandwidths([machine.dns for machine in answer.machines])
    reply = ask(name, replace(question, bandwidths=dict(known_pairs)))
    unused = [each for shared in shared_names(GROUP) if shared.name == name for each in shared.unused]
    report = MapperReport(name, reply.failure, reply.seconds, tuple(unused))
    answer = replace(answer, mapping=None, mapper=report)
    if reply.failure:
        return answer
    whole = _sum_of_fractions(name, question, reply.shares)
    if whole is not None:
        summed = Notice(NoticeCode.SHARES_SUMMED, NO_PLACE, name, whole)
        answer = replace(answer, notices=(*answer.notices, summed))
    parts = whole or 1.0
    machines = [replace(answer.machines[share.place], share=share.share / parts) for share in reply.shares]
    return replace(answer, machines=tuple(machines))


def _sum_of_fractions(name: str, question: MapperQuestion, shares: Sequence[MappedShare]) -> float | None:
    """The sum of shares that have to be fractions and are none; None where they are as asked. Whole parts are asked for
    by `total`, and some of the portal's own deal out those of the request."""
    whole = math.fsum(share.share for share in shares)
    if "total" in question.options or is_shipped(GROUP, name) or math.isclose(whole, 1.0, rel_tol=_ROUNDING):
        return None
    return whole


def mapper_names() -> list[str]:
    """The mappers that packages here make known."""
    return plugin_names(GROUP)
