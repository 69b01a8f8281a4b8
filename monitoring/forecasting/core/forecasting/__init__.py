"""Forecasts as the Network Weather Service made them: many cheap predictors, and those that did best so far.

`Mixture` follows many series at once; `forecast_series` does the same over one series that is all there;
`forecast_over` and `forecast_each_over` say what the mean over the next N seconds will be.
"""

from monitoring.forecasting.core.forecasting.family import PREDICTORS
from monitoring.forecasting.core.forecasting.horizon import forecast_each_over, forecast_over, forecast_series
from monitoring.forecasting.core.forecasting.mixture import Forecasts, Mixture

__all__ = ["PREDICTORS", "Forecasts", "Mixture", "forecast_each_over", "forecast_over", "forecast_series"]
