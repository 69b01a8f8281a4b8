"""Columns of a placement that keep values as JSON: rows hold the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import InputError
from scheduling.jobs.core.candidates import Bottleneck, CandidateGroup, Objective
from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.job_fields import ValueField
from scheduling.skeletons.core.trial_record import Trial


class CandidatesField(ValueField[tuple[CandidateGroup, ...]]):
    """The groups that were weighed, as a tuple; in the database the list of their documents."""

    default_document = list

    def value_of(self, document: Any) -> tuple[CandidateGroup, ...]:
        """All of them; some may be values already."""
        return tuple(each if isinstance(each, CandidateGroup) else CandidateGroup.read(each) for each in document)


class ObjectiveField(ValueField[Objective]):
    """What the chosen group offers."""

    def value_of(self, document: Any) -> Objective:
        """Empty where nothing was kept."""
        return Objective.read(document)


class ExplanationField(ValueField[Explanation | None]):
    """Why the other nodes were not taken; None in rows of versions that did not keep it."""

    def value_of(self, document: Any) -> Explanation:
        """Empty for an empty document."""
        return Explanation.read(document)


class BottleneckField(ValueField[Bottleneck | None]):
    """The slowest pair of the chosen group; None where nobody talks."""

    def value_of(self, document: Any) -> Bottleneck | None:
        """None for an empty document, too."""
        return Bottleneck.read(document) if document else None


@dataclass(frozen=True, slots=True)
class UnreadableTrial(Unreadable, Trial):
    """A trial that nobody can read."""

    raw: Any = None
    why: str = ""


class TrialField(ValueField[Trial | None]):
    """How the skeleton was tried on the candidate groups; None where nobody asked for that."""

    unreadable = UnreadableTrial

    def value_of(self, document: Any) -> Trial:
        """Also of rows that have parts of one."""
        if not isinstance(document, dict):
            raise InputError("trial", document, "an object")
        return Trial.read(document)
