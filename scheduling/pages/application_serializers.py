"""Applications as JSON."""

from __future__ import annotations

from typing import Any

from django.db import models
from rest_framework import serializers

from gridportal.web.api_errors import TextField, WordedSerializer
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Application


class OutputPatternsDocument(serializers.DictField):
    """The document of an application's output patterns; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class StopMeansDocument(serializers.DictField):
    """How an application is stopped; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class ApplicationSerializer(WordedSerializer, serializers.ModelSerializer[Application]):
    """A registered program. Only types are checked here; the service checks what they mean."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.CharField: TextField,
        models.SlugField: TextField,
        models.TextField: TextField,
    }
    slug = TextField(max_length=60)  # that it is free is for the service to say
    command = serializers.ListField(child=TextField())
    parameters = serializers.ListField(child=serializers.DictField(), required=False)
    environment = serializers.DictField(child=TextField(allow_blank=True), required=False)
    launcher = serializers.ListField(child=TextField(), required=False)
    modules = serializers.ListField(child=TextField(), required=False)
    ranks = serializers.DictField(required=False)
    phases = serializers.ListField(child=TextField(), required=False)
    scaling = serializers.DictField(
        required=False,
        help_text="Seconds by numbers of ranks, from which ranks and nodes are chosen together: ranks, cpu, bandwidth.",
    )
    output_patterns = OutputPatternsDocument(
        required=False,
        help_text="Regular expressions for lines of its output: success, failure, seconds (pattern, unit, which), and "
        "figures, a list of objects with name, pattern, unit, which; progress (pattern, of, file), lines of its output "
        "or of that file which tell a step; rounds, true where rounds of its outermost loop are counted instead.",
    )

    stop_means = StopMeansDocument(
        required=False,
        help_text="How it is asked to stop with a checkpoint, from which it goes on elsewhere: by (srs or own) and "
        "seconds, how long it may take; with own one of signal, file and command, restart (the words for {restart} in "
        "its command, with {file}), pattern (of that file), and ranks, checkpoint and every. Empty: it cannot.",
    )

    class Meta:
        model = Application
        fields: tuple[str, ...] = (
            "slug",
            "name",
            "description",
            "command",
            "parameters",
            "environment",
            "launcher",
            "modules",
            "mpi",
            "pattern",
            "ranks",
            "phases",
            "scaling",
            "output_patterns",
            "stop_means",
            "enabled",
            "created_at",
            "updated_at",
        )
        read_only_fields = ("created_at", "updated_at")
