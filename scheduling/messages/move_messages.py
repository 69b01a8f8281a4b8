"""What is said while a job is stopped and goes on elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gridportal.base import rank_places
from gridportal.base.reasons import Code, Reason
from scheduling.messages.parts import full_stop, ranks_text
from scheduling.messages.registry import message, plain, says

_UNUSABLE = {
    "empty": "It is empty.",
    "cut off": "It has less than half of the one before: it was cut off while it was written.",
}
#: The stages of a weighing, as what failed is named.
_STAGES = {"waiting": "Beginning to weigh it", "choosing": "Choosing other nodes", "predicting": "Predicting the move"}
plain(
    {
        Code.PUT_BACK_MEANWHILE: "Its cluster put it back into the queue before it had stopped; it is not asked again.",
        Code.ENDED_MEANWHILE: "The program came to its end before it stopped.",
        Code.NOBODY_DECIDED: "Nobody decided in time, so the job stays where it is.",
        Code.MOVE_RECORD_GONE: "Nothing is kept any more of the move that it asked for.",
        Code.RUN_IS_OVER: "The run that it would have moved does not run any more.",
    }
)


def other_nodes(announced: Sequence[str], nodes: Sequence[str]) -> str:
    """What is said where newer figures chose other nodes than were told before."""
    return (
        f"First {rank_places.in_short(announced)} were chosen. When the nodes were reserved, newer figures chose "
        f"{rank_places.in_short(nodes)} instead."
    )


@says(Code.ASKED_TO_STOP)
def _(person: str, nodes: Sequence[str], ranks: int, text: str) -> str:
    why = f" ({text})" if text else ""
    return f"{person} stopped it with a checkpoint{why}; it goes on {_with(ranks, nodes)}."


@says(Code.ASKED_TO_GO_ON)
def _(person: str, nodes: Sequence[str], ranks: int, text: str) -> str:
    why = f" ({text})" if text else ""
    return f"{person} lets it go on{why}, {_with(ranks, nodes)}."


@says(Code.STOPPED_AS_ASKED)
def _(checkpoint: int) -> str:
    return f"It stopped with checkpoint {checkpoint}, from which the next run goes on."


@says(Code.STOPPED_BY_ITSELF)
def _(checkpoint: int) -> str:
    return f"Its time limit was near: it stopped by itself and kept checkpoint {checkpoint}."


@says(Code.LEFT_AS_ASKED)
def _(file: str) -> str:
    return f"It stopped and left {file}, from which the next run goes on."


@says(Code.LEFT_BY_ITSELF)
def _(file: str) -> str:
    return f"Its time limit was near, or its cluster asked it to stop: it stopped and left {file}."


@says(Code.LEFT_NOTHING)
def _(pattern: str) -> str:
    return (
        f"It was asked to stop and ended well, but left no new file {pattern} to go on from. With a line of success in "
        "its output patterns the portal could tell whether all work was done."
    )


@says(Code.GOES_ON_FROM_FILE)
def _(file: str, nodes: Sequence[str], ranks: int) -> str:
    start = f"It goes on from {file}" if file else "There is no file to go on from: it starts from the beginning"
    return f"{start} {_with(ranks, nodes)}."


@says(Code.WAITS_WITH_FILE)
def _(file: str) -> str:
    return f"It stopped and left {file}; let it go on from there, or cancel it."


@says(Code.WAITS_FOR_PERSON)
def _(checkpoint: int) -> str:
    return f"It stopped with checkpoint {checkpoint}; let it go on from there, or cancel it."


@says(Code.FAILED_WITH)
def _(checkpoint: int, file: str, why: Reason) -> str:
    left = file or f"checkpoint {checkpoint}"
    return f"It failed, and can go on from {left}: let it go on, or cancel it. {message(why)}".strip()


@says(Code.GOES_ON_FROM)
def _(checkpoint: int, nodes: Sequence[str], ranks: int) -> str:
    return f"It goes on from checkpoint {checkpoint} {_with(ranks, nodes)}."


@says(Code.GOES_BACK)
def _(why: Reason) -> str:
    return f"It did not start there, and goes back to where it ran. {message(why)}".strip()


@says(Code.MOVED)
def _(nodes: Sequence[str], ranks: int, seconds: float) -> str:
    return f"It computes again {_with(ranks, nodes)}, {seconds:.1f} s after the move was asked for."


@says(Code.STARTED_ANEW)
def _(nodes: Sequence[str], ranks: int) -> str:
    return f"It started from the beginning {_with(ranks, nodes)}: its program found no checkpoint."


@says(Code.STARTED_WITHOUT)
def _(checkpoint: int, nodes: Sequence[str], ranks: int) -> str:
    why = f"checkpoint {checkpoint} is damaged, and no other one is whole"
    return f"It started from the beginning {_with(ranks, nodes)}: {why}."


@says(Code.MOVE_REFUSED)
def _(why: Reason) -> str:
    return f"Nothing was stopped: {full_stop(message(why))}"


@says(Code.CONTINUE_REFUSED)
def _(why: Reason) -> str:
    return f"It did not go on: {full_stop(message(why))}"


@says(Code.HOURS_DENIED)
def _() -> str:
    return "Nothing was stopped: at this hour no moves begin on its cluster."


@says(Code.MOVE_WAITED_TOO_LONG)
def _(seconds: float) -> str:
    waited = f"it waited {seconds:,.0f} s for other moves of its cluster"
    return f"Nothing was stopped: {waited}, and its figures are too old by now."


@says(Code.NOT_STOPPED)
def _(text: str) -> str:
    why = full_stop(text) or "it does not say why."
    return f"The program stays where it is, because it could not write a checkpoint: {why}"


@says(Code.STOPS_TOO_SLOWLY)
def _(seconds: float) -> str:
    return f"The program stays where it is: it did not stop within {seconds:g} s."


@says(Code.NO_CHECKPOINT)
def _(checkpoint: int) -> str:
    return f"The program stopped with checkpoint {checkpoint}, but neither that nor an earlier one can be read."


@says(Code.SHARD_MISSING)
def _(file: str) -> str:
    return f"The shard {file} is missing."


@says(Code.SHARD_CHANGED)
def _(file: str, has: int, size: int) -> str:
    return f"The shard {file} has {has} bytes; {size} were written."


@says(Code.SHARD_UNNAMED)
def _(file: str) -> str:
    return f"“{file}” is no name of a shard."


@says(Code.SHARDS_GONE)
def _(nodes: Sequence[str]) -> str:
    shown = ", ".join(nodes[:5]) + (f" and {len(nodes) - 5} more" if len(nodes) > 5 else "")
    if len(nodes) == 1:
        return f"The depot of {shown} no longer has its shards."
    return f"The depots of {shown} no longer have its shards."


@says(Code.MOVE_LOST)
def _(times: int) -> str:
    return f"The worker that moved it was lost {times} times."


@says(Code.WEIGHING_FAILED)
def _(stage: str, why: Reason) -> str:
    return f"{_STAGES.get(stage, stage)} failed. {message(why)}"


@says(Code.WEIGHING_LOST)
def _(times: int) -> str:
    return f"The worker that weighed it was lost {times} times; ask again."


def unusable(health: str) -> str:
    """Why no program goes on from a file of that health; empty where one can.

    >>> unusable("empty"), unusable("whole")
    ('It is empty.', '')
    """
    return _UNUSABLE.get(health, "")


def restart_text(
    checkpoint: int | None,
    file: str,
    written_at: datetime | None,
    iteration: int | None,
    of: int | None,
    now: datetime,
) -> str:
    """What a job goes on from, in words; times in UTC.

    >>> at = datetime(2026, 11, 23, 12, 3)
    >>> restart_text(7, "", at, 400, 5000, at), restart_text(None, "melt.2.restart", at, None, None, at)
    ('the checkpoint of 12:03, iteration 400 of 5000', 'melt.2.restart of 12:03')
    """
    of_day = "%H:%M" if written_at and written_at.date() == now.date() else "%Y-%m-%d %H:%M"
    when = f" of {written_at.strftime(of_day)}" if written_at else f" {checkpoint}" if checkpoint else ""
    count = "" if iteration is None else f", iteration {iteration}" + (f" of {of}" if of else "")
    return f"{file or 'the checkpoint'}{when}{count}"


def _with(ranks: int, nodes: Sequence[str]) -> str:
    count = ranks_text(ranks)
    return f"with {count} on {rank_places.in_short(nodes)}" if nodes else f"with {count}"
