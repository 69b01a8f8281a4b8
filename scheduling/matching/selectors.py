"""Reading ads that people wrote."""

from __future__ import annotations

import logging

from django.db.models import Q, QuerySet

from gridportal.accounts.models import User
from gridportal.base.errors import InputError
from scheduling.matching.core.language.ad_reader import read_ad
from scheduling.matching.core.language.ad_syntax import Record
from scheduling.matching.models import ResourceAd, SavedRequest

log = logging.getLogger(__name__)


def saved_requests(user: User) -> QuerySet[SavedRequest]:
    """Those of a person, and those that others share; by name."""
    return SavedRequest.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner")


def resource_ads(cluster: str) -> QuerySet[ResourceAd]:
    """What administrators say of the nodes of a cluster, that of every node first."""
    return ResourceAd.objects.filter(cluster=cluster)


def policies(cluster: str) -> dict[str, Record]:
    """The same as values by the node's name, "" for every node. One that cannot be read any more is logged."""
    found: dict[str, Record] = {}
    for row in resource_ads(cluster):
        try:
            found[row.node] = read_ad(row.text, str(row)).ad
        except InputError as error:
            log.error("the %s cannot be read: %s", row, error)
    return found
