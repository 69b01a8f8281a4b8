"""Texts that two people may edit at a time, requests that are kept and ads of nodes: the second one is told."""

from __future__ import annotations

from django.db import transaction

from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError
from gridportal.accounts.models import User
from gridportal.web.shown_version import version_of, was_shown
from scheduling.matching.models import ResourceAd, SavedRequest
from scheduling.matching.services import resource_policies, saving_requests

#: What forms and answers call the ad of all nodes.
EVERY_NODE = "every node"


@transaction.atomic
def keep_request(actor: User, shown: str, name: str, text: str, *, shared: bool | None) -> tuple[SavedRequest, bool]:
    """Keep a request under a name; with whether it took the place of one. shown: the version that `actor`
    has seen, empty for whatever there is.

    Raises ChangedMeanwhileError where the own request of this name is another one now, and as `save_request`.
    """
    row = SavedRequest.objects.select_for_update().filter(owner=actor, name=" ".join(name.split())).first()
    if shown and row and not was_shown(shown, row.name, row.text, ""):
        raise ChangedMeanwhileError("You", f" at {row.changed_at:%H:%M} UTC,", ("text",), {"text": row.text})
    return saving_requests.save_request(actor, name, text, shared=shared), row is not None


@transaction.atomic
def change_ad(actor: User, shown: str, cluster: str, node: str, text: str) -> ResourceAd | None:
    """Set or take away the ad of a node. shown: as above.

    Raises ChangedMeanwhileError where it is another one now, and as `set_resource_ad`.
    """
    row = ResourceAd.objects.select_for_update().filter(cluster=cluster, node=node).first()
    now = row.text if row else ""
    if shown and not was_shown(shown, node or EVERY_NODE, now, ""):
        by = row.changed_by if row else "Somebody"
        at = f" at {row.changed_at:%H:%M} UTC," if row else ""
        raise ChangedMeanwhileError("You" if by == actor.username else by, at, ("text",), {"text": now})
    return resource_policies.set_resource_ad(actor, cluster, node, text)


def version_of_request(row: SavedRequest) -> str:
    """What `keep_request` takes as shown."""
    return version_of({row.name: row.text})


def version_of_ad(row: ResourceAd) -> str:
    """What `change_ad` takes as shown."""
    return version_of({row.node or EVERY_NODE: row.text})
