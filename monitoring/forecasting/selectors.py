"""Reading forecasts."""

from __future__ import annotations

from monitoring.forecasting.core.forecasting import PREDICTORS
from monitoring.history.core.directory import forecast_of
from monitoring.history.core.samples import Forecast
from monitoring.history.selectors import store


def forecast(cluster_name: str, subject: str, metric: str) -> Forecast | None:
    """What the next value of a series will be, as the best predictor so far says; None while nothing is known. One
    query."""
    found = store.stored_series(cluster_name)
    number = found.directory.numbers.get((subject, metric)) if found else None
    if found is None or found.figures is None or number is None:
        return None
    return forecast_of(found.figures, number, PREDICTORS)
