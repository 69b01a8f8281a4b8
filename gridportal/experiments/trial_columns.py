"""The figures of single trials: which the CSV has of all experiments, and which a page shows of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gridportal.experiments.tables import NOTHING

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of each trial: `name` in the CSV, `head` on the page, where a figure has so many `digits`.

    `value` takes what the trial measured; None stands for nothing. Times are seconds.
    """

    name: str
    head: str
    value: Callable[[Mapping[str, Any]], Cell]
    digits: int = 0
    is_text: bool = False

    def shown(self, trial: Mapping[str, Any]) -> str:
        """The figure as text for people."""
        value = self.value(trial)
        if isinstance(value, int | float):
            return f"{value:.{self.digits}f}"
        return value or NOTHING


def _figure(name: str) -> Callable[[Mapping[str, Any]], Cell]:
    def value(trial: Mapping[str, Any]) -> Cell:
        return trial.get(name)

    return value


def _predicted(trial: Mapping[str, Any]) -> Cell:
    """Of several groups the lowest: that of the chosen one."""
    predicted = trial.get("predicted")
    if isinstance(predicted, list):
        return min(predicted, default=None)
    return predicted if isinstance(predicted, int | float) else None


def _moment(trial: Mapping[str, Any]) -> Cell:
    at = trial.get("at")
    return "" if at is None else datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="seconds")


def _nodes(trial: Mapping[str, Any]) -> Cell:
    return " ".join(trial.get("nodes") or [])


AT = Column("at", "At", _moment, is_text=True)
NODES = Column("nodes", "Nodes in rank order", _nodes, is_text=True)
SECONDS = Column("seconds", "Program, s", _figure("seconds"), 3)
PREDICTED = Column("predicted", "Predicted, s", _predicted, 3)
CHOOSING = Column("choosing", "Choosing, s", _figure("choosing"), 2)
TOOK = Column("took", "Trial, s", _figure("took"), 1)
ERROR = Column("error", "Error", _figure("error"), is_text=True)
COMPARED = Column("compared", "Answers compared", _figure("compared"))
WORST_ERROR = Column("worst_error", "Worst error", _figure("worst_error"), 3)

#: Of a trial that runs a program on nodes.
RUN_COLUMNS = (NODES, SECONDS, PREDICTED, CHOOSING, TOOK)
#: The first columns of every CSV, in its order.
COMMON_COLUMNS = (AT, NODES, SECONDS, PREDICTED, CHOOSING, TOOK, ERROR, COMPARED, WORST_ERROR)
