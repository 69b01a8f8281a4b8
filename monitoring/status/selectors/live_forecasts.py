"""The newest value of every series of a cluster, and what it will be next, at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
from django.utils import timezone

from gridportal.web.templatetags.units import duration
from monitoring.forecasting.core.forecasting import PREDICTORS, forecast_each_over
from monitoring.forecasting.core.forecasting.horizon import FEWEST_BLOCKS, MOST_BLOCKS
from monitoring.history.core.directory import NOTHING_LIVE, Directory, Figures, LiveValues, forecast_of
from monitoring.history.core.samples import Forecast, History, Series
from monitoring.history.selectors import series as telemetry
from monitoring.history.selectors import store
from monitoring.telemetry.core.figures import LONGEST

#: Made when they are asked for: of many series that takes long.
Forecasts = Callable[[], dict[Series, Forecast]]
#: Seconds from which on means of minutes do: the newest minute may have only begun, which counts in shorter times.
_ROLLED = 600.0


def live_values(cluster_name: str) -> tuple[LiveValues, Forecasts]:
    """Newest values by (subject, metric), and the forecasts of the bandwidths and cpus that have one. One query."""
    stored = store.stored_series(cluster_name)
    if stored is None or stored.figures is None:
        return NOTHING_LIVE, dict
    return LiveValues(stored.directory, stored.figures), partial(_forecasts, stored.directory, stored.figures)


def live_and_forecast(cluster_name: str) -> tuple[LiveValues, dict[Series, Forecast]]:
    """The same, with the forecasts made."""
    live, forecasts = live_values(cluster_name)
    return live, forecasts()


def _forecasts(directory: Directory, figures: Figures) -> dict[Series, Forecast]:
    numbers = (*directory.by_metric.get("bandwidth", ()), *directory.by_metric.get("cpu", ())) if PREDICTORS else ()
    found = ((directory.series[number], forecast_of(figures, number, PREDICTORS)) for number in sorted(numbers))
    return {series: forecast for series, forecast in found if forecast is not None}


def over_next(cluster_name: str, wanted: Sequence[Series], seconds: float) -> tuple[dict[Series, Forecast], str]:
    """The mean of each of `wanted` over the next `seconds`, from the means over such times in its history; without
    those that have too little of it. And a sentence where that is so of all. Three queries for each."""
    now = timezone.now()
    since = now - timedelta(seconds=min(MOST_BLOCKS * seconds, LONGEST))
    finest = "raw" if seconds < _ROLLED else "auto"
    past = {series: telemetry.history(cluster_name, *series, since, now, resolution=finest) for series in wanted}
    past = {series: one for series, one in past.items() if len(one)}
    forecasts = forecast_each_over([(one.at, one.value) for one in past.values()], seconds, now.timestamp())
    found = {
        series: Forecast(float(value), float(error), PREDICTORS[predictor], float(one.at[-1]))
        for (series, one), value, error, predictor in zip(
            past.items(), forecasts.value, forecasts.error, forecasts.predictor, strict=True
        )
        if np.isfinite(error)
    }
    return found, _too_short(cluster_name, past, seconds)


def _too_short(cluster_name: str, past: Mapping[Series, History], seconds: float) -> str:
    """That the longest history has too few spans of `seconds` in it; empty when it has enough, or there is none."""
    if not past or max(_length(one) for one in past.values()) >= (FEWEST_BLOCKS - 1) * seconds:
        return ""
    series = min(past, key=lambda one: past[one].at[0])
    kept = duration(_kept(cluster_name, series, past[series]))
    return (
        f"A forecast of the mean over the next {duration(seconds)} needs {duration(FEWEST_BLOCKS * seconds)} of "
        f"history, and only {kept} of it is kept. Until there is more, these are forecasts of the next figure."
    )


def _kept(cluster_name: str, series: Series, past: History) -> float:
    """Seconds that a history spans: by single samples as long as they go back as far as the means do."""
    first, last = (datetime.fromtimestamp(float(past.at[place]), UTC) for place in (0, -1))
    hour = timedelta(hours=1)
    finest = telemetry.history(cluster_name, *series, first - hour, last + hour, resolution="raw")
    whole = len(finest) and finest.at[0] - past.at[0] <= hour.total_seconds()
    return _length(finest if whole else past)


def _length(history: History) -> float:
    return float(history.at[-1] - history.at[0])
