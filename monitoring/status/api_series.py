"""What was recorded over REST: one series with its forecast, and how the measuring goes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.base.errors import InputError
from gridportal.web.api_permissions import may
from monitoring.forecasting import selectors
from monitoring.history.selectors import series
from monitoring.status.api import cluster_of
from monitoring.status.core.remos import parse_window
from monitoring.status.selectors.health import as_document, health
from monitoring.status.serializers import ClusterChoiceSerializer

_PERMISSIONS: list[type[BasePermission]] = [may("monitoring.view_network")]


class SeriesQuerySerializer(ClusterChoiceSerializer):
    """Which series, and over which time: `since` back from now, or from `start` to `until`."""

    subject = serializers.CharField(max_length=200, help_text="A node, or a link as n1>n2")
    metric = serializers.CharField(max_length=60, help_text="bandwidth, cpu, load, memory, ...")
    since = serializers.CharField(required=False, max_length=20, help_text="15m, 1h (the usual), 7d, or seconds")
    start = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    resolution = serializers.ChoiceField(choices=["auto", "raw", "minute", "hour"], default="auto")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """With `start` and `until` as they are to be read. Raises InputError."""
        start, until, now = attrs.get("start"), attrs.get("until"), timezone.now()
        if start is None:
            return {**attrs, "start": (until or now) - _length(attrs.get("since", "1h")), "until": until or now}
        if "since" in attrs:
            raise InputError("since", attrs["since"], "either since or start")
        if start > (until or now):
            raise InputError("start", start.isoformat(), f"a moment up to {(until or now).isoformat()}")
        return {**attrs, "until": until or now}


def _length(since: str) -> timedelta:
    try:
        return timedelta(seconds=parse_window(since).seconds)
    except InputError as error:
        raise InputError("since", since, error.accepted) from error


class PointSerializer(serializers.Serializer[Any]):
    """A sample, or a minute or an hour of them: Unix seconds, mean and extremes in basic units."""

    at = serializers.FloatField()
    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class ForecastSerializer(serializers.Serializer[Any]):
    """What is foretold of the next value, with its mean error so far, and which predictor weighs most in it."""

    value = serializers.FloatField()
    error = serializers.FloatField()
    predictor = serializers.CharField()
    at = serializers.FloatField(help_text="Unix seconds of the value that it was made after")


class SeriesSerializer(serializers.Serializer[Any]):
    """One series, oldest first; `age`: seconds since its newest value in the range."""

    cluster = serializers.CharField()
    subject = serializers.CharField()
    metric = serializers.CharField()
    resolution = serializers.CharField()
    age = serializers.FloatField(allow_null=True)
    points = PointSerializer(many=True)
    forecast = ForecastSerializer(allow_null=True)


class NetworkSeries(APIView):
    """The readings of one metric of a node or link."""

    permission_classes = _PERMISSIONS

    @extend_schema(parameters=[SeriesQuerySerializer], responses=SeriesSerializer)
    def get(self, request: Request) -> Response:
        """Its history over a range of time, and the forecast of its next value."""
        query = SeriesQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        name, subject, metric = asked["cluster"], asked["subject"], asked["metric"]
        if (subject, metric) not in series.live(name):
            raise NotFound(f"Nothing was ever recorded of {metric!r} of {subject!r} on {name!r}.")
        found = series.history(name, subject, metric, asked["start"], asked["until"], resolution=asked["resolution"])
        points = [
            {"at": at, "value": value, "low": low, "high": high}
            for at, value, low, high in zip(found.at, found.value, found.low, found.high, strict=True)
        ]
        document = {
            "cluster": name,
            "subject": subject,
            "metric": metric,
            "resolution": found.resolution,
            "age": found.age,
            "points": points,
            "forecast": selectors.forecast(name, subject, metric),
        }
        return Response(SeriesSerializer(document).data)


class NetworkTelemetry(APIView):
    """How the measuring goes."""

    permission_classes = _PERMISSIONS

    @extend_schema(parameters=[ClusterChoiceSerializer], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Sources with age and trouble, what probing takes of each link, and the store, as `gridportal telemetry
        status --json` has them."""
        return Response(as_document(health(cluster_of(request.query_params))))
