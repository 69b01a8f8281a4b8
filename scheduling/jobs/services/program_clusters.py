"""On which clusters people may run programs of their own: where these cannot reach what is the portal's.

A user's program has all rights of the unix user as whom it runs. Where that is the portal's user it could read the
database and the keys, so it is refused unless the setting own_programs says `always`.
"""

from __future__ import annotations

from enum import StrEnum

from django.conf import settings

from gridportal.accounts.models import User
from gridportal.base.clusters import Cluster
from gridportal.base.errors import InputError
from gridportal.testbed.sandbox.level import Isolation
from monitoring.clusters import selectors
from scheduling.jobs.models import Application
from scheduling.jobs.selectors import may_use


class Hindrance(StrEnum):
    """Why a cluster takes no programs of users."""

    SWITCHED_OFF = "switched off"
    PORTAL_USER = "portal's user"
    NOT_TESTED = "not tested"

    @property
    def why(self) -> str:
        """As the end of a sentence."""
        return _WHY[self]


_WHY = {
    Hindrance.SWITCHED_OFF: "programs of users are switched off on this portal",
    Hindrance.PORTAL_USER: "jobs run there as the portal’s user, so a program of yours could reach the portal’s files, "
    "unless an administrator allows it (GRIDPORTAL_OWN_PROGRAMS)",
    Hindrance.NOT_TESTED: "it is not known yet as which user jobs run there; try again when the cluster has answered",
}


def hindrance(cluster: Cluster) -> Hindrance | None:
    """Why programs of users do not run there; None where they do."""
    rule = settings.PORTAL.own_programs
    if rule == "never":
        return Hindrance.SWITCHED_OFF
    if rule == "always" or cluster.as_person:
        return None
    if not cluster.traits.part_of_portal:
        return Hindrance.PORTAL_USER
    row = selectors.cluster(cluster.name)
    level = str((row.facts if row else {}).get("isolation") or Isolation.UNTESTED)
    if level == Isolation.OWN_USER:
        return None
    return Hindrance.NOT_TESTED if level == Isolation.UNTESTED else Hindrance.PORTAL_USER


def hindrances() -> dict[str, Hindrance | None]:
    """The same of every cluster, by its name."""
    return {name: hindrance(each) for name, each in selectors.configured().items()}


def check_use(person: User, application: Application, cluster: Cluster) -> None:
    """Raises InputError for an application that is not this person's to submit, or not on this cluster."""
    if not may_use(person, application):
        raise InputError("application", application.slug, "an application that you may submit")
    check_cluster(application, cluster)


def check_cluster(application: Application, cluster: Cluster) -> None:
    """Raises InputError for a program of a user where these may not run."""
    if application.owner_id is None:
        return
    if why := hindrance(cluster):
        fitting = [name for name, other in hindrances().items() if other is None]
        raise InputError(
            "cluster", cluster.name, f"{_any_of(fitting)} for {application.name}, a program of a user: {why.why}"
        )


def _any_of(names: list[str]) -> str:
    return " or ".join(names) if names else "none"
