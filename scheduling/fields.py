"""Columns that keep a value of scheduling.core as JSON: reader and writer stand together, and rows hold the value."""

from __future__ import annotations

from typing import Any

from django.db import models

from scheduling.core.requirements import Requirements


class RequirementsField(models.JSONField):
    """The requirements of a job; in the database the JSON of `Requirements.document`."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Requirements:
        """The value of a row."""
        return Requirements.stored(super().from_db_value(value, expression, connection) or {})

    def get_prep_value(self, value: Any) -> Any:
        """What is written; a document is taken as it is."""
        return super().get_prep_value(value.document() if isinstance(value, Requirements) else value)

    def value_to_string(self, obj: models.Model) -> Any:
        """What a dump of the tables holds."""
        return self.get_prep_value(self.value_from_object(obj))

    def deconstruct(self) -> Any:
        """For migrations it is the JSON column that it has always been."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options | {"default": dict}
