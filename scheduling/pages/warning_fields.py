"""What speaks against a program that is registered, in the answer to its registration."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from scheduling.jobs.models import Application
from scheduling.messages import message
from scheduling.pages.application_serializers import ApplicationSerializer
from scheduling.runs.services.program_warnings import program_warnings


class WarningSerializer(serializers.Serializer[Any]):
    """One of them."""

    code = serializers.CharField(help_text="Which never changes.")
    facts = serializers.DictField(help_text="The facts of that code.")
    message = serializers.CharField(help_text="The same as a sentence.")


def warning_documents(application: Application) -> list[dict[str, Any]]:
    """All warnings as JSON; what keeps it from starting first."""
    return [{**reason.document(), "message": message(reason)} for reason in program_warnings(application)]


class RegisteredApplicationSerializer(ApplicationSerializer):
    """An application as it is registered now, with what speaks against it."""

    warnings = serializers.SerializerMethodField(help_text="What speaks against it; nothing was refused for it.")

    class Meta(ApplicationSerializer.Meta):
        fields = (*ApplicationSerializer.Meta.fields, "warnings")

    @extend_schema_field(WarningSerializer(many=True))
    def get_warnings(self, row: Application) -> list[dict[str, Any]]:
        """All of them."""
        return warning_documents(row)
