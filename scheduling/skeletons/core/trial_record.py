"""The trial of a placement as its row keeps it: the plan, and what came of it; reader and writer side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gridportal.base.entries import Entries, number, text, whole
from gridportal.base.reasons import NOTHING, Reason
from scheduling.skeletons.core.trial_rounds import Plan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial came to once a group was taken. None: not known, or not kept by the version that wrote it.

    taken: the group's place in the selection's order; by: who took it, "skeleton", "selection" or a person. ran, ended,
    compared: on so many groups. spent, overrun (above the budget) and won (over the selection's own choice) in seconds;
    node_seconds: for how long nodes were busy with the skeleton, summed over the nodes.
    """

    taken: int | None = None
    by: str = ""
    ran: int | None = None
    ended: int | None = None
    compared: int | None = None
    spent: float | None = None
    overrun: float | None = None
    node_seconds: float | None = None
    won: float | None = None
    finding: Reason = NOTHING

    @classmethod
    def read(cls, document: object) -> Outcome:
        """From a document of `document`. Raises InputError that names the entry which is of another kind."""
        entries = Entries(document, "trial")
        return cls(
            taken=entries.optional("taken", whole),
            by=entries.optional("by", text) or "",
            ran=entries.optional("ran", whole),
            ended=entries.optional("ended", whole),
            compared=entries.optional("compared", whole),
            spent=entries.optional("spent", number),
            overrun=entries.optional("overrun", number),
            node_seconds=entries.optional("node_seconds", number),
            won=entries.optional("won", number),
            finding=entries.optional("finding", Reason.read) or NOTHING,
        )

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Outcome.read`; without what is not known, but for `won`."""
        figures = {each.name: getattr(self, each.name) for each in fields(self)}
        kept = {name: value for name, value in figures.items() if value is not None or name == "won"}
        return kept | {"finding": self.finding.document()}


NO_OUTCOME = Outcome()


@dataclass(frozen=True, slots=True)
class Trial:
    """How the skeleton of a job is tried on its candidate groups, or why it is not. outcome: None while it goes on.

    A plan of which something is missing is None: rows can have parts of one.

    >>> Trial.read({"spent": 4.0, "won": None, "finding": "n1 taken."}).outcome.spent
    4.0
    """

    plan: Plan | None = None
    outcome: Outcome | None = None
    untried: Reason = NOTHING

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Trial:
        """From its document, also one of an earlier version. Raises InputError that names what is of another kind."""
        is_over = any(name in document for name in Outcome.__dataclass_fields__)
        return cls(
            plan=Plan.read(document),
            outcome=Outcome.read(document) if is_over else None,
            untried=Reason.read(document.get("untried")),
        )

    @property
    def groups(self) -> tuple[int, ...]:
        """The places of the candidates that are tried; none without a plan."""
        return self.plan.groups if self.plan else ()

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `Trial.read`."""
        plan = self.plan.document() if self.plan else {}
        outcome = self.outcome.document() if self.outcome else {}
        return plan | outcome | ({"untried": self.untried.document()} if self.untried else {})
