"""The trials of an experiment as a table for other programs, the same from the page and from the API."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.experiments.trial_columns import COMMON_COLUMNS, Column


def text(trials: Mapping[str, Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """One line for each trial: the columns of every experiment, then those of this one alone.

    Seconds everywhere; `at` in ISO 8601 and UTC. An experiment's column stands in place of the common one of its name.
    """
    by_name = {column.name: column for column in (*COMMON_COLUMNS, *columns)}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["trial", *by_name])
    for key, trial in trials.items():
        writer.writerow([key, *(column.value(trial) for column in by_name.values())])
    return out.getvalue()
