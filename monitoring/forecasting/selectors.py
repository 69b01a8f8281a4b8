"""Reading forecasts."""

from __future__ import annotations

from monitoring.forecasting.core.forecasting import PREDICTORS
from monitoring.history.core.directory import forecast_of
from monitoring.history.core.samples import Forecast
from monitoring.history.selectors import store


def forecast(cluster_name: str, subject: str, metric: str) -> Forecast | None:
    """What the next value of a series will be, as the best predictor so far says; None while nothing is known. One
    query."""
    stored = store.stored_series(cluster_name)
    number = stored.directory.numbers.get((subject, metric)) if stored else None
    if stored is None or stored.figures is None or number is None:
        return None
    return forecast_of(stored.figures, number, PREDICTORS)
