"""Columns that keep a value as JSON: reader and writer stand together, and rows hold the value."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.db import models

from gridportal.base import bounded_json
from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core.requirements import Requirements

log = logging.getLogger(__name__)

if TYPE_CHECKING:  # as the program runs, Django's fields take no types
    from django.db.models.expressions import Combinable

    class _ReasonColumn(models.TextField[Reason | Combinable, Reason]):
        _pyi_private_set_type: Reason | Combinable  # type: ignore[assignment]  # the stubs' own way to say it
        _pyi_private_get_type: Reason  # type: ignore[assignment]

else:
    _ReasonColumn = models.TextField


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


class ReasonField(_ReasonColumn):
    """Why something is as it is; in the database the JSON of `Reason.dump`, the same for equal reasons."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"blank": True, "default": NOTHING, **options})

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Reason:
        """The value of a row."""
        return Reason.load(value or "")

    def get_prep_value(self, value: Any) -> Any:
        """What is written. Raises TypeError for text: sentences are made at the door."""
        if not isinstance(value, Reason):
            raise TypeError(f"{self.name} keeps a Reason, not {value!r}.")
        return value.dump()

    def value_to_string(self, obj: models.Model) -> Any:
        """What a dump of the tables holds."""
        return self.get_prep_value(self.value_from_object(obj))

    def to_python(self, value: Any) -> Any:
        """The value of a dump of the tables."""
        return Reason.load(value) if isinstance(value, str) else value

    def deconstruct(self) -> Any:
        """For migrations it is the text column that it has always been."""
        name, _, arguments, options = super().deconstruct()
        options.pop("default", None)
        return name, "django.db.models.TextField", arguments, options


class ProgramJSON(models.JSONField):
    """What a program reported of itself, as JSON that can always be read.

    Rows of earlier versions may be nested so deep that no reader takes them; they are empty then.
    """

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The object; {} for what nobody can read."""
        if not isinstance(value, str | bytes):
            return super().from_db_value(value, expression, connection)
        try:
            return bounded_json.loads(value, lenient=True)
        except bounded_json.UnreadableError as error:
            log.warning("a program's figures in the database cannot be read: %s", error)
            return {}

    def deconstruct(self) -> Any:
        """For migrations it is the JSON column that it has always been."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options
