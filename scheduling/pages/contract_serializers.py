"""The contract of a run over REST."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class _LimitsSerializer(serializers.Serializer[Any]):
    lower = serializers.FloatField()
    upper = serializers.FloatField()


class _AdjustmentSerializer(_LimitsSerializer):
    """Limits that moved; `cause`: refused, faster or expired."""

    report = serializers.IntegerField()
    at = serializers.FloatField()
    cause = serializers.CharField()
    average = serializers.FloatField()


class _PromisedPhaseSerializer(serializers.Serializer[Any]):
    """Seconds of one report on average; `done` 0..1."""

    phase = serializers.CharField()
    reports = serializers.IntegerField()
    promised = serializers.FloatField()
    actual = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    done = serializers.FloatField(allow_null=True)


class _ContractCallSerializer(serializers.Serializer[Any]):
    """A call to the rescheduler, and what was known then."""

    at = serializers.DateTimeField()
    report = serializers.IntegerField()
    phase = serializers.CharField()
    promised = serializers.FloatField()
    actual = serializers.FloatField()
    average = serializers.FloatField()
    complete = serializers.FloatField(allow_null=True)
    ret_current = serializers.FloatField(allow_null=True)
    overdue = serializers.BooleanField(help_text="No report gave occasion for it, but one that did not come.")


class _StandingSerializer(serializers.Serializer[Any]):
    standing = serializers.CharField()
    at = serializers.DateTimeField()


class _ModelErrorSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    error = serializers.FloatField(allow_null=True)


class _ModelProblemSerializer(serializers.Serializer[Any]):
    model = serializers.CharField()
    message = serializers.CharField()


class ContractSerializer(serializers.Serializer[Any]):
    """What a run was promised, in seconds. `standing`: waiting, kept, faster, slow, violated or silent."""

    standing = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    standings = _StandingSerializer(many=True)
    closed = serializers.BooleanField()
    model = serializers.CharField(allow_null=True)
    error = serializers.FloatField(allow_null=True)
    promised_seconds = serializers.FloatField(allow_null=True)
    average = serializers.FloatField(allow_null=True)
    given = _LimitsSerializer()
    limits = _LimitsSerializer()
    adjustments = _AdjustmentSerializer(many=True)
    complete = serializers.FloatField(allow_null=True)
    ret_current = serializers.FloatField(allow_null=True)
    refined_seconds = serializers.FloatField(allow_null=True)
    phases = _PromisedPhaseSerializer(many=True)
    calls = _ContractCallSerializer(many=True)
    others = _ModelErrorSerializer(many=True)
    problems = _ModelProblemSerializer(many=True)
