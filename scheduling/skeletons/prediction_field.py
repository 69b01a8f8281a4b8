"""The column of a skeleton that keeps a value as JSON."""

from __future__ import annotations

from typing import Any

from scheduling.jobs.job_fields import ValueField
from scheduling.skeletons.core.best_prediction import BestPrediction


class BestPredictionField(ValueField[BestPrediction | None]):
    """The best that a skeleton has predicted; None where it never ran to its end."""

    def value_of(self, document: Any) -> BestPrediction | None:
        """None for an empty document, too."""
        return BestPrediction.read(document) if document else None
