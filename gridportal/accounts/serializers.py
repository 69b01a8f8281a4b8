"""Accounts as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gridportal.accounts.models import ApiToken, AuditEvent
from gridportal.accounts.tokens import MAX_DAYS, usual_days
from gridportal.base.time_presets import PRESETS
from gridportal.web.api_errors import WordedSerializer


class MeSerializer(serializers.Serializer[Any]):
    """Who the caller is and what the role may do."""

    username = serializers.CharField()
    role = serializers.CharField()
    may = serializers.ListField(child=serializers.CharField())


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token without its text, which nobody has any more."""

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = ("id", "name", "prefix", "created_at", "last_used_at", "expires_at")
        read_only_fields: tuple[str, ...] = fields


class NewTokenSerializer(WordedSerializer):
    """What is asked of a new token."""

    name = serializers.CharField(max_length=80)
    days = serializers.IntegerField(
        min_value=1,
        max_value=MAX_DAYS,
        default=usual_days,
        allow_null=True,
        help_text="90 unless said, or what GRIDPORTAL_TOKEN_DAYS permits; null: no end, where that permits it.",
    )


class MadeTokenSerializer(TokenSerializer):
    """A token just made, with its text for this once."""

    token = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "token")
        read_only_fields = fields


class AuditEventSerializer(serializers.ModelSerializer[AuditEvent]):
    """One action by someone on something."""

    actor = serializers.CharField(source="actor_name")

    class Meta:
        model = AuditEvent
        fields = (
            "id",
            "at",
            "actor",
            "action",
            "detail",
            "object_type",
            "object_id",
            "object_label",
            "request_id",
            "address",
        )
        read_only_fields = fields


class AuditFilterSerializer(WordedSerializer):
    """The audit trail's filters, as on its page."""

    actor = serializers.CharField(required=False)
    action = serializers.CharField(required=False)
    object = serializers.CharField(required=False, help_text="job:12, or part of the object's words")
    last = serializers.ChoiceField(choices=list(PRESETS), required=False, help_text="The time up to now.")
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
