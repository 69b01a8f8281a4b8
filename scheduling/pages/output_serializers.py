"""What runs leave as JSON: log, script and phases."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gridportal.web.api_errors import WordedSerializer


class LogSerializer(serializers.Serializer[Any]):
    """A piece of the log; ask on from `end`. `complete`: nothing more will come."""

    text = serializers.CharField(allow_blank=True)
    offset = serializers.IntegerField()
    end = serializers.IntegerField()
    complete = serializers.BooleanField()


class LogPartSerializer(WordedSerializer):
    """Which piece: from byte `offset` (else the end of the log), at most `limit` bytes."""

    offset = serializers.IntegerField(required=False, min_value=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000, default=64_000)


class ScriptSerializer(serializers.Serializer[Any]):
    """The exact batch script of the last run."""

    script = serializers.CharField()


class PhaseSerializer(serializers.Serializer[Any]):
    """What one phase of the program took; seconds are maxima over the ranks."""

    phase = serializers.CharField()
    count = serializers.IntegerField()
    seconds = serializers.FloatField()
    mean = serializers.FloatField()
    min = serializers.FloatField()
    max = serializers.FloatField()
    compute = serializers.FloatField(allow_null=True)
    communicate = serializers.FloatField(allow_null=True)
    share = serializers.FloatField()
    iteration = serializers.IntegerField(allow_null=True)
    of = serializers.IntegerField(allow_null=True)
