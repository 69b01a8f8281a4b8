"""What runs leave as JSON: log, script and phases."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gridportal.base.run_listing import Entry, is_text
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


class FilePathSerializer(WordedSerializer):
    """Which file or folder, by its path below the run's folder."""

    path = serializers.CharField(required=False, default="", allow_blank=True, trim_whitespace=False, max_length=4000)


class RunEntrySerializer(serializers.Serializer[Any]):
    """A file or folder. kind: folder, file, or what is not opened: link, second name (a hard link), special."""

    name = serializers.CharField()
    kind = serializers.CharField()
    size = serializers.IntegerField(help_text="bytes")
    modified = serializers.FloatField(help_text="Unix seconds")
    name_is_text = serializers.SerializerMethodField(
        help_text="False: its name is no UTF-8, and has ? for what is none. It cannot be asked for by this name; it "
        "comes with the archive of its folder."
    )

    def get_name_is_text(self, entry: Entry) -> bool:
        """Whether an address can name it."""
        return is_text(entry.name)

    def to_representation(self, instance: Any) -> Any:
        """With what is no UTF-8 in a name replaced."""
        row = super().to_representation(instance)
        return {**row, "name": row["name"].encode("utf-8", "replace").decode()}


class RunFolderSerializer(serializers.Serializer[Any]):
    """What lies in a folder of a run."""

    path = serializers.CharField()
    entries = RunEntrySerializer(many=True)
    left_out = serializers.IntegerField(help_text="How many more there are.")
