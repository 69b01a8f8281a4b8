"""What the portal brought: time lost against promises, the time of trials against the time won, moves, and how far the
predictions behind all that were off; in sentences that can be quoted, with the number of jobs that they stand on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridportal.base.rates import rounded_percent
from gridportal.web.templatetags.units import duration
from scheduling.jobs.core.units import hours_text, share_text
from scheduling.reports.report_section import Cell, Chart, Head, Seconds, Section
from scheduling.reports.use_cells import counted
from scheduling.usage.core.prediction_quality import KEPT, PredictionQuality
from scheduling.usage.ranges import Slowdown

_HOUR = 3600.0
#: What was predicted, by who did, and of what.
_PREDICTED = {
    "contracts": ("the time of phases, by contracts", "run"),
    "skeletons": ("the time of the program on the group taken, by skeletons", "run"),
    "moves": ("the time to the end of a job that is moved", "move"),
}
_NO_CONTRACTS = (
    "No run of this time had a contract, so nobody knows what was lost. A run gets one when its program reports its "
    "phases, or has run before with the same parameters."
)
_NO_TRIALS = (
    "No job had its groups tried in this time. That needs an application with a skeleton: record a run on its Profile "
    "page."
)
_NO_PREDICTIONS = (
    "No prediction of this time can be judged yet. Contracts, skeletons and moves predict; they are judged when their "
    "jobs have ended well."
)
_NOISE = share_text(KEPT)
_SLOWDOWN_NOTE = (
    f"A run that takes up to {_NOISE} longer than its contract promised has kept its promise: as much is noise. "
    "Node-hours lost are those of every run that took longer, and nothing is subtracted from them. Avoided is "
    "predicted, each job against itself, with its own program, parameters, cluster and number of nodes: nobody can run "
    "a job twice at one time."
)
_TRIALS_NOTE = (
    "Time spent: while skeletons ran. Time for which a job waited for nodes, in the line or for a person's choice does "
    "not count. Time won: on the group that was taken, against the group that the selection alone would have taken."
)
_NO_ERROR = "No run shows yet how far such predictions are off."


def brought_sections(slowdown: Slowdown, qualities: Mapping[str, PredictionQuality]) -> list[Section]:
    """Lost and avoided, trials, and predictions beside what came."""
    return [_slowdown(slowdown, qualities), _trials(slowdown, qualities), _predictions(qualities)]


def _slowdown(found: Slowdown, qualities: Mapping[str, PredictionQuality]) -> Section:
    heads = (Head("what", "What"), Head("count", "Of", Cell.NUMBER), Head("node_hours", "Node-hours", Cell.NUMBER))
    values = [
        ("lost: beyond what contracts promised", found.slow, round(found.suffered / _HOUR, 4)),
        (f"lost in runs more than {_NOISE} late", found.late, round(found.late_suffered / _HOUR, 4)),
        ("avoided by trying candidate groups, predicted", found.trials, round(found.by_trials / _HOUR, 4)),
        ("avoided by moves, after their cost", found.moves, round(found.by_moves / _HOUR, 4)),
    ]
    bars = (values[0], *values[2:])
    chart = Chart("Node-hours", ("lost", "avoided by trials", "avoided by moves"), tuple(row[2] for row in bars))
    has_any = any(value for _, _, value in values)
    shown = tuple(values) if has_any or found.runs else ()
    finding = f"{_lost(found, qualities)}{_avoided(found, qualities)}"
    note = _SLOWDOWN_NOTE if shown else ""
    return Section("slowdown", "Slowdown suffered and avoided", finding, heads, shown, note, chart if has_any else None)


def _lost(found: Slowdown, qualities: Mapping[str, PredictionQuality]) -> str:
    if not found.runs:
        return _NO_CONTRACTS
    its = "its promise" if found.runs == 1 else "their promise"
    kept = f"{found.kept} of {counted(found.runs, 'run')} with a contract kept {its}, to within {_NOISE}"
    off = _off(qualities.get("contracts"), "run", "; promises were off by")
    if not found.slow:
        return f"{kept}, and none took longer{off}."
    return f"{kept}{_lost_late(found)}{_lost_by_noise(found)}{off}."


def _lost_late(found: Slowdown) -> str:
    """What those lost that missed their promise; empty of none."""
    if not found.late:
        return ""
    who = "the other one" if found.late == 1 else f"the other {found.late:,}"
    if found.late == found.runs:
        who = "it" if found.runs == 1 else "they"
    return f"; {who} lost {hours_text(found.late_suffered / _HOUR)} node-hours"


def _lost_by_noise(found: Slowdown) -> str:
    """What those lost that kept their promise and yet took longer; empty of none."""
    count = found.slow - found.late
    if not count:
        return ""
    who = "The one that kept it" if found.kept == 1 else f"{count:,} of the {found.kept:,} that kept it"
    lost = hours_text((found.suffered - found.late_suffered) / _HOUR)
    return f". {who} took up to {_NOISE} longer than promised and lost {lost} node-hours"


def _avoided(found: Slowdown, qualities: Mapping[str, PredictionQuality]) -> str:
    """Nothing where there were neither trials nor moves."""
    parts = []
    if found.trials:
        parts.append(f"choosing by trials avoided {_hours_of(found.by_trials, found.trials, 'job')}")
    if found.moves:
        off = _off(qualities.get("moves"), "move", ", such predictions were off by")
        parts.append(f"moves avoided {_hours_of(found.by_moves, found.moves, 'move')}{off}")
    words = "; ".join(parts)
    return f" {words[:1].upper()}{words[1:]}." if parts else ""


def _hours_of(seconds: float, count: int, word: str) -> str:
    return f"{hours_text(seconds / _HOUR)} node-hours ({counted(count, word)})"


def _off(quality: PredictionQuality | None, word: str, before: str) -> str:
    """By how much predictions were off, with how many could be judged; empty where none could."""
    if quality is None or quality.error is None:
        return ""
    return f"{before} {share_text(quality.error)} in the median ({counted(quality.count, word)} judged)"


def _trials(found: Slowdown, qualities: Mapping[str, PredictionQuality]) -> Section:
    heads = (Head("what", "What"), Head("jobs", "Jobs", Cell.NUMBER), Head("seconds", "Time", Cell.SECONDS))
    values = (
        ("spent on trying groups", found.tried, Seconds(round(found.spent, 1))),
        ("won, as predicted, where the first choice was tried too", found.compared, Seconds(round(found.won, 1))),
        ("waiting now for a person to take a group", found.awaiting, None),
    )
    parts = [_of_trials(found, qualities)] if found.tried else []
    parts += [_awaiting(found.awaiting)] if found.awaiting else []
    finding, has_any = " ".join(parts) or _NO_TRIALS, bool(parts)
    title, note = "Trials: time spent and time won", _TRIALS_NOTE if has_any else ""
    return Section("trials", title, finding, heads, values if has_any else (), note)


def _awaiting(count: int) -> str:
    has = "has its groups tried and waits" if count == 1 else "have their groups tried and wait"
    return f"{counted(count, 'job')} {has} for a person to take one now."


def _of_trials(found: Slowdown, qualities: Mapping[str, PredictionQuality]) -> str:
    spent = f"Trying the groups of {counted(found.tried, 'job')} took {duration(found.spent)}"
    if not found.compared:
        return f"{spent}. In none of them was the first choice tried too, so nobody knows what was won."
    of_them = "" if found.compared == found.tried else f" in {found.compared:,} of these jobs"
    taken = "the group that was taken is" if found.compared == 1 else "the groups that were taken are"
    won = f"{taken} predicted to save {duration(found.won)}{of_them}"
    off = _off(qualities.get("skeletons"), "run", " Such predictions were off by")
    return f"{spent}; {won}.{f'{off}.' if off else f' {_NO_ERROR}'}"


def _predictions(found: Mapping[str, PredictionQuality]) -> Section:
    heads = (
        Head("predicted_by", "Predicted"),
        Head("count", "Of", Cell.NUMBER),
        Head("error_percent", "Median error, %", Cell.PERCENT),
        Head("close_percent", "Close, %", Cell.PERCENT),
        Head("longer_percent", "Took longer, %", Cell.PERCENT),
    )
    shown = [(*_PREDICTED[name], each) for name, each in found.items() if each.count]
    values = tuple(_row(words, each) for words, _, each in shown)
    parts = [f"{share_text(each.error or 0.0)} for {words}, {counted(each.count, of)}" for words, of, each in shown]
    finding = f"Half of the predictions were off by at most: {'; '.join(parts)}." if parts else _NO_PREDICTIONS
    note = (
        "Errors are shares of the predicted time. Close: off by at most 10 %. Judged are the runs of this time that "
        "ended well, and moves whose job is over."
    )
    return Section("predictions", "Predictions against outcomes", finding, heads, values, note if parts else "")


def _row(words: str, each: PredictionQuality) -> tuple[Any, ...]:
    error = rounded_percent(each.error) if each.error is not None else None
    return (words, each.count, error, *(rounded_percent(part / each.count) for part in (each.close, each.too_short)))
