"""Columns that keep a value as JSON: reader and writer stand together, and rows hold the value."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import models
from django.db.models.fields.json import KeyTransform

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core.application_specification import ApplicationSpecification, UnreadableSpecification
from scheduling.jobs.core.cluster_options import ClusterOptions, UnreadableOptions
from scheduling.jobs.core.output_patterns import OutputPatterns, UnreadableOutputPatterns
from scheduling.jobs.core.requirements import Requirements, UnreadableRequirements
from scheduling.jobs.core.stop_means import StopMeans, UnreadableStopMeans
from scheduling.jobs.core.unreadable import Unreadable

log = logging.getLogger(__name__)
Kept = TypeVar("Kept")

if TYPE_CHECKING:  # as the program runs, Django's fields take no types
    from django.db.models.expressions import Combinable

    class _ReasonColumn(models.TextField[Reason | Combinable, Reason]):
        _pyi_private_set_type: Reason | Combinable  # type: ignore[assignment]  # the stubs' own way to say it
        _pyi_private_get_type: Reason  # type: ignore[assignment]

    class _ValueColumn(models.JSONField[Kept | Combinable, Kept]):
        pass

else:
    _ReasonColumn = models.TextField

    class _ValueColumn(models.JSONField, Generic[Kept]):
        pass


class DocumentEncoder(json.JSONEncoder):
    """Values with a `document` as that."""

    def default(self, o: Any) -> Any:
        """TypeError for what has none. What nobody could read is written back as it was."""
        if isinstance(o, Unreadable):
            return o.raw
        return o.document() if hasattr(o, "document") else super().default(o)


class ValueField(_ValueColumn[Kept]):
    """A value that writes itself as JSON by `document`; a field of its own says by `value_of` how it is read.

    Parts of it (`F("placements__trial__spent")`) are plain JSON, and documents are written as they are.
    """

    default_document: Callable[[], Any] = dict
    #: What rows hold for a document of another kind, of that and what is wrong with it; None: reading it raises.
    unreadable: type[Any] | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.encoder = DocumentEncoder

    def value_of(self, document: Any) -> Kept:
        """The value of a document."""
        raise NotImplementedError

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The value of a row; None for NULL where the column may be empty."""
        document = super().from_db_value(value, expression, connection)
        if isinstance(expression, KeyTransform):
            return document
        try:
            return self.to_python(document if isinstance(document, dict | list | None) else [document])
        except (InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            if self.unreadable is None:
                raise
            return self.unreadable(raw=document, why=str(error))

    def to_python(self, value: Any) -> Any:
        """The value of a document, as rows and dumps of the tables have it; a value is left as it is."""
        if value is None:
            return None if self.null else self.value_of(self.default_document())
        return self.value_of(value) if isinstance(value, dict | list) else value

    def value_to_string(self, obj: models.Model) -> Any:
        """What a dump of the tables holds."""
        return json.loads(json.dumps(self.value_from_object(obj), cls=DocumentEncoder))

    def deconstruct(self) -> Any:
        """For migrations it is the JSON column that it has always been."""
        name, _, arguments, options = super().deconstruct()
        del options["encoder"]
        default = {} if self.null else {"default": self.default_document}
        return name, "django.db.models.JSONField", arguments, options | default


class RequirementsField(ValueField[Requirements]):
    """The requirements of a job."""

    unreadable = UnreadableRequirements

    def value_of(self, document: Any) -> Requirements:
        """From what was checked before it was stored."""
        return Requirements.stored(document)


class SpecificationField(ValueField[ApplicationSpecification]):
    """Groups of ranks, who talks to whom, and where ranks must or must not run."""

    unreadable = UnreadableSpecification

    def value_of(self, document: Any) -> ApplicationSpecification:
        """From what was checked before it was stored."""
        return ApplicationSpecification.stored(document)


class OutputPatternsField(ValueField[OutputPatterns]):
    """What the lines of a program's output mean."""

    unreadable = UnreadableOutputPatterns

    def value_of(self, document: Any) -> OutputPatterns:
        """From what was checked before it was stored."""
        return OutputPatterns.stored(document)


class StopMeansField(ValueField[StopMeans]):
    """How a program is asked to stop so that it can go on later."""

    unreadable = UnreadableStopMeans

    def value_of(self, document: Any) -> StopMeans:
        """From what was checked before it was stored."""
        return StopMeans.stored(document)


class ClusterOptionsField(ValueField[ClusterOptions]):
    """What a job asks of its cluster."""

    unreadable = UnreadableOptions

    def value_of(self, document: Any) -> ClusterOptions:
        """From what was checked before it was stored."""
        return ClusterOptions.stored(document)


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
