"""Columns of a placement that keep values as JSON: rows hold the values."""

from __future__ import annotations

from typing import Any

from django.db import models

from scheduling.jobs.core.candidates import CandidateGroup


class CandidatesField(models.JSONField):
    """The groups that were weighed, as a tuple; in the database the JSON list of `CandidateGroup.document`."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> tuple[CandidateGroup, ...]:
        """The values of a row."""
        return tuple(map(CandidateGroup.read, super().from_db_value(value, expression, connection) or ()))

    def get_prep_value(self, value: Any) -> Any:
        """What is written; documents are taken as they are."""
        groups = [each.document() if isinstance(each, CandidateGroup) else each for each in value or ()]
        return super().get_prep_value(groups)

    def value_to_string(self, obj: models.Model) -> Any:
        """What a dump of the tables holds."""
        return self.get_prep_value(self.value_from_object(obj))

    def to_python(self, value: Any) -> Any:
        """The values of a dump of the tables."""
        return tuple(each if isinstance(each, CandidateGroup) else CandidateGroup.read(each) for each in value or ())

    def deconstruct(self) -> Any:
        """For migrations it is the JSON column that it has always been."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options | {"default": list}
