"""What differs between where a job runs and where it would go, in one sentence: why it is faster there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gridportal.web.templatetags.units import spaced
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup
from scheduling.jobs.core.units import rate_text, share_text
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.profiles.charts.picture import Peaks, path_peak
from scheduling.rescheduling.models import MoveDecision

_ALIKE = "both node sets offer processors and links that are equally free"
_UNEXPLAINED = f"{_ALIKE}, which does not explain that the model promises so different times"
#: Times that differ by no more than this factor are nearly the same.
_NEARLY = 1.1
#: Of nodes without a speed of their own.
_REFERENCE: Mapping[str, float] = MappingProxyType({})


def what_differs(
    decision: MoveDecision, peaks: Peaks, promised: Prediction | None, speeds: Mapping[str, float] = _REFERENCE
) -> str:
    """By the figures that the decision keeps; `peaks`: of its cluster's links, bit/s; `promised`: what the contract of
    its run promises; `speeds`: of nodes, 1 where they say none. Empty where nothing is known of both node sets."""
    here, there = decision.group_now, decision.group_there
    parts = [part for part in (_processors(here, there, speeds), _links(here, there, peaks)) if part]
    if not parts and _is_known(here) and _is_known(there):
        parts = [_UNEXPLAINED if _is_far_off(decision) else _ALIKE]
    parts += [part for part in (_ranks(decision), _pace(decision, promised)) if part]
    return f"{_when(decision)}: {'; '.join(parts)}." if parts else ""


def _when(decision: MoveDecision) -> str:
    """Of which moment the figures are; those of nodes that a person took are later."""
    here, there = decision.created_at, decision.overridden_at
    if there is None:
        return f"When it was weighed, {here:%H:%M:%S} UTC"
    return f"Here when it was weighed, {here:%H:%M:%S} UTC, there when these nodes were taken, {there:%H:%M:%S} UTC"


def _is_known(group: CandidateGroup) -> bool:
    return group.objective.min_cpu is not None


def _is_far_off(decision: MoveDecision) -> bool:
    """Whether the rest of the work takes another time there, by the promise."""
    here, there = decision.ret_current or 0.0, decision.ret_new or 0.0
    return min(here, there) > 0 and max(here, there) > _NEARLY * min(here, there)


def _processors(here: CandidateGroup, there: CandidateGroup, speeds: Mapping[str, float]) -> str:
    """The busiest processor of each, where the figures differ as they are written."""
    now, then = here.objective.min_cpu, there.objective.min_cpu
    if now is None or then is None or share_text(now) == share_text(then):
        return ""
    speed_here, speed_there = _speed(here, speeds), _speed(there, speeds)
    if speed_here is None or speed_there is None:
        return (
            f"the slowest node here gave {share_text(now)} of a processor of speed 1, there it gives {share_text(then)}"
        )
    if speed_here == speed_there == 1:
        return f"the busiest processor here had {_free(now, 1.0)}, there {_free(then, 1.0, '')}"
    told = f"{_free(now, speed_here)} at speed {speed_here:.3g}", f"{_free(then, speed_there, '')} at {speed_there:.3g}"
    return f"the busiest processor here had {told[0]}, there {told[1]}"


def _speed(group: CandidateGroup, speeds: Mapping[str, float]) -> float | None:
    """That of its nodes; None where they have several."""
    found = {speeds.get(node) or 1.0 for node in group.nodes}
    return found.pop() if len(found) == 1 else None


def _free(effective: float, speed: float, word: str = " free") -> str:
    """What of a processor is free that gives so much of one of speed 1."""
    free = min(1.0, effective / speed)
    return f"{share_text(free)}{word} ({_load(free)})"


def _load(cpu: float) -> str:
    """Busy processes of others, for each processor (Selection 1999, 3.1: cpu = 1 / (1 + load))."""
    if cpu <= 0:
        return "no end of busy processes"
    count = f"{1 / cpu - 1:.1f}".removesuffix(".0")
    return "no busy process" if count == "0" else f"{count} busy process{'' if count == '1' else 'es'}"


def _links(here: CandidateGroup, there: CandidateGroup, peaks: Peaks) -> str:
    """What the slowest pair of each got, and over which link."""
    now, then = here.bottleneck, there.bottleneck
    if now is None or then is None:
        if now is then:
            return ""
        return _unbound(here, "here") if now is None else _unbound(there, "there")
    rates = [each.pair.bandwidth or 0.0 for each in (now, then)]
    if rate_text(rates[0]) == rate_text(rates[1]):
        return ""
    return f"the slowest pair here had {_over(now, peaks)}, and there {_over(then, peaks)}"


def _unbound(group: CandidateGroup, where: str) -> str:
    """Of a node set without a pair that is the slowest."""
    if len(set(group.nodes)) < 2:
        return f"{where}, no pair needs a link"
    if len(group.nodes) > 2:
        return f"{where}, several pairs {'share' if where == 'here' else 'would share'} a link"
    rate = group.objective.min_bandwidth
    return f"the only pair {where} has {rate_text(rate)}" if rate else f"{where}, only one pair has a link"


def _over(bottleneck: Bottleneck, peaks: Peaks) -> str:
    rate, peak = bottleneck.pair.bandwidth or 0.0, path_peak(bottleneck.pair, peaks)
    used = f", {share_text(max(0.0, 1 - rate / peak))} in use" if peak else ""
    return f"{rate_text(rate)} ({'–'.join(bottleneck.ends)}{used})"


def _ranks(decision: MoveDecision) -> str:
    now, there = len(decision.nodes_now), len(decision.nodes)
    return f"it had {now} ranks here and would have {there} there" if decision.nodes and now != there else ""


def _pace(decision: MoveDecision, promised: Prediction | None) -> str:
    """What a step takes here at the measured pace, and there by a promise that nobody has measured yet."""
    main = _longest(promised)
    if main is None or decision.average is None:
        return ""
    here = main.at(decision.complete or 0.0) * decision.average
    pace = f"at the measured pace of this run, one report of {spaced(main.phase)} takes {here:.3g} s here"
    if not decision.ret_current or decision.ret_new is None:
        return pace
    there = here * decision.ret_new / decision.ret_current
    return f"{pace}; there it should take {there:.3g} s: a prediction of the model, nothing was measured"


def _longest(promised: Prediction | None) -> PhasePrediction | None:
    phases = promised.phases if promised else ()
    return max(phases, key=lambda each: each.total or 0.0, default=None)
