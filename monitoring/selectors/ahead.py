"""The newest value of every series of a cluster, and what it will be next, at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import numpy as np
from django.utils import timezone

from monitoring.core.directory import LiveValues, forecast_of
from monitoring.core.figures import LONGEST
from monitoring.core.forecasting import forecast_each_over
from monitoring.core.forecasting.horizon import MOST_BLOCKS
from monitoring.core.samples import Forecast, Live, Series
from monitoring.selectors import store, telemetry

#: Seconds from which on means of minutes do: the newest minute may have only begun, which counts in shorter times.
_ROLLED = 600.0


def live_and_ahead(cluster_name: str) -> tuple[Mapping[Series, Live], dict[Series, Forecast]]:
    """Newest values by (subject, metric), and the forecasts of the bandwidths and cpus that have one. One query."""
    found = store.known(cluster_name)
    if found is None or found.figures is None:
        return {}, {}
    forecasts = {}
    for number, series in enumerate(found.directory.series if telemetry.PREDICTORS else ()):
        one = forecast_of(found.figures, number, telemetry.PREDICTORS) if series[1] in ("bandwidth", "cpu") else None
        if one is not None:
            forecasts[series] = one
    return LiveValues(found.directory, found.figures), forecasts


def over_next(cluster_name: str, wanted: Sequence[Series], seconds: float) -> dict[Series, Forecast]:
    """The mean of each of `wanted` over the next `seconds`, from the means over such times in its history; without
    those that have too little of it. Three queries for each."""
    now = timezone.now()
    since = now - timedelta(seconds=min(MOST_BLOCKS * seconds, LONGEST))
    finest = "raw" if seconds < _ROLLED else "auto"
    past = {series: telemetry.history(cluster_name, *series, since, now, resolution=finest) for series in wanted}
    past = {series: one for series, one in past.items() if len(one)}
    said = forecast_each_over([(one.at, one.value) for one in past.values()], seconds, now.timestamp())
    return {
        series: Forecast(float(value), float(error), telemetry.PREDICTORS[predictor], float(one.at[-1]))
        for (series, one), value, error, predictor in zip(
            past.items(), said.value, said.error, said.predictor, strict=True
        )
        if np.isfinite(error)
    }
