"""What administrators add to the ads of nodes: who may use a node, and when."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from monitoring.clusters import selectors as clusters
from scheduling.matching.models import ResourceAd
from scheduling.matching.services.checked_texts import check_policy, read_request
from scheduling.matching.services.match_texts import RESOURCE_NAMES


@transaction.atomic
def set_resource_ad(actor: User, cluster: str, node: str, text: str) -> ResourceAd | None:
    """Let `text` be what is added to the ad of a node, "" for every node; an empty text takes it away.

    Raises InputError for a cluster or node that is not there, and for a text that is no ad.
    """
    clusters.setting(cluster)
    names = clusters.compute_names(cluster)
    if node and names and node not in names:
        raise InputError("node", node, f"a compute node of {cluster}, or nothing for all of them")
    rows = ResourceAd.objects.filter(cluster=cluster, node=node)
    if not text.strip():
        for row in rows:
            audit(actor, "resource_ad.remove", row, cluster=cluster, node=node)
        rows.delete()
        return None
    _check_names(text)
    check_policy(text)
    values = {"text": text, "changed_by": actor.username, "changed_at": timezone.now()}
    row, _ = ResourceAd.objects.update_or_create(cluster=cluster, node=node, defaults=values)
    audit(actor, "resource_ad.change", row, cluster=cluster, node=node, text=text[:2000])
    return row


def _check_names(text: str) -> None:
    """Raises InputError for a name: two nodes of one name could be found as one."""
    ad = read_request(text, "ad").ad
    for name in RESOURCE_NAMES:
        if ad.get(name) is not None:
            raise InputError("ad", name, "other attributes: the portal gives each node its own name")
