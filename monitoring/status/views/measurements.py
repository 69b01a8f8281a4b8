"""What became of a measurement that somebody asked for: the time of asking stands in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from gridportal.base.dates import MomentField
from gridportal.web.worded_form import WordedForm
from monitoring.clusters.models import Cluster

#: An older address is one that somebody kept: it asks for nothing now.
_KEPT = timedelta(hours=1)


class MeasurementState(Enum):
    """How far it is."""

    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AskedMeasurement:
    """A measurement that was asked for at `asked`; `ended`: when its last figure came, None before."""

    state: MeasurementState
    asked: datetime
    ended: datetime | None = None


class _AskedForm(WordedForm):
    asked = MomentField(required=False)


def asked_measurement(query: Mapping[str, str], cluster: Cluster, now: datetime) -> AskedMeasurement | None:
    """The measurement of `?asked=`; None where nobody asked for one within the last hour."""
    form = _AskedForm(query)
    form.is_valid()
    asked: datetime | None = form.cleaned_data.get("asked")
    if asked is None or not timedelta() <= now - asked <= _KEPT:
        return None
    if cluster.error_at and cluster.error_at >= asked:
        return AskedMeasurement(MeasurementState.FAILED, asked, cluster.error_at)
    if cluster.measured_at and cluster.measured_at >= asked:
        ended = cluster.measured_at + timedelta(seconds=cluster.probe_seconds or 0.0)
        return AskedMeasurement(MeasurementState.ENDED, asked, ended)
    return AskedMeasurement(MeasurementState.RUNNING, asked)
