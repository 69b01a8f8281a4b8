"""The trail of what people did: one row per action, written by services, read by the audit page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.http import HttpRequest

from gridportal.accounts.models import AuditEvent, User
from gridportal.web.middleware import address_of, current_address, current_request_id

Actor = User | str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """What an action was about when it is no row: a kind, an id and words for people."""

    type: str
    id: str
    label: str

    @classmethod
    def of(cls, obj: Model | Subject | None) -> Subject:
        """A row's model name, key and words; nothing for nothing."""
        if isinstance(obj, Subject):
            return obj
        return cls("", "", "") if obj is None else cls(str(obj._meta.model_name), str(obj.pk), str(obj))


def audit(
    actor: Actor, action: str, obj: Model | Subject | None = None, *, request: HttpRequest | None = None, **detail: Any
) -> AuditEvent:
    """Add one row: `actor` (a person, or a word such as "portal") did `action` (noun.verb) to `obj`.

    `detail` must be JSON; request id and address come from `request`, else from the request under way.
    """
    subject = Subject.of(obj)
    person = actor if isinstance(actor, User) and actor.pk else None
    return AuditEvent.objects.create(
        actor=person,
        actor_name=(person.username if person else str(actor or "portal"))[:150],
        action=action,
        object_type=subject.type,
        object_id=subject.id[:64],
        object_label=subject.label[:200],
        detail=detail,
        request_id=current_request_id.get(),
        address=(address_of(request) if request is not None else current_address.get()) or None,
    )
