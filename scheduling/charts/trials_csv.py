"""The trials of an experiment as a table for other programs, the same from the page and from the API."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

from scheduling.charts import experiment_tables as tables

COLUMNS = ("trial", "at", "nodes", "seconds", "predicted", "choosing", "took", "error", "compared", "worst_error")


def text(runs: list[tables.Run]) -> str:
    """One line per trial; seconds everywhere, `at` in ISO 8601 and UTC."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for run in runs:
        figures = (run.seconds, run.predicted, run.choosing, run.took)
        writer.writerow(
            [run.key, _moment(run.at), " ".join(run.nodes), *figures, run.error, run.compared or "", run.worst]
        )
    return out.getvalue()


def _moment(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="seconds")
