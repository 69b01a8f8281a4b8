"""Why a tried group was taken or left, and what the trial cost and won, as reasons."""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.core.candidates import SkeletonResult
from scheduling.skeletons.core.trial_budget import Account, Cause


def finding(
    nodes: Sequence[str],
    by: str,
    account: Account,
    predicted: float | None,
    selection: float | None,
    why: Reason = NOTHING,
) -> Reason:
    """What was taken, what the trial cost and what it won.

    `by`: skeleton, selection (when nothing could be compared), or the name of a person, who says `why`; `selection`:
    seconds predicted for the selection's own choice, None when unknown.
    """
    counts = {name: getattr(account, name) for name in ("groups", "ended", "compared", "spent", "budget")}
    return Reason.of(Code.TRIED, nodes=nodes, by=by, **counts, predicted=predicted, selection=selection, why=why)


def group_reason(tried: SkeletonResult, taken: SkeletonResult, person: str = "") -> Reason:
    """Why a group was taken or left. `tried`, `taken`: how the skeleton fared on it and on the one taken; `person`: who
    took that, empty when nobody did."""
    seconds, best = tried.predicted, taken.predicted
    if seconds is not None:
        more = None if best is None or tried is taken else seconds - best
        return Reason.of(Code.PREDICTED, seconds=seconds, more=more)
    why = Reason.of(Code.NOT_PREDICTED, state=tried.state, why=tried.reason)
    if not person or tried is not taken:
        return why
    early = tried.cause == Cause.TAKEN
    return Reason.of(Code.TAKEN_EARLY, person=person) if early else Reason.of(Code.TAKEN_ANYHOW, person=person, why=why)
