"""Who may do what, in words, and how a person is given a role."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import transaction

from gridportal.accounts.audit import audit
from gridportal.accounts.models import ROLES, User
from gridportal.base.errors import InputError

ADMINISTRATOR = "administrator"
ALL_ROLES = (*ROLES, ADMINISTRATOR)

MAY = {
    "user": [
        "see, submit, cancel, hold, release, requeue and resubmit your own jobs",
        "bring programs of your own, share them, and offer them to everybody",
        "propose moves of your own jobs, and say that they are not to be moved",
        "see the network and the applications",
    ],
    "operator": [
        "see, cancel, hold, release and requeue everybody's jobs, and choose among the groups that they try",
        "submit and resubmit jobs of your own",
        "approve, refuse and override moves of jobs, have them simulated, and change by which rules jobs are moved",
        "measure the network, build skeletons, run experiments and read the audit trail",
        "make, change, mute and remove the rules of alerts, and plan maintenance",
    ],
    "manager": [
        "see everybody's jobs, the network and the audit trail",
        "give projects budgets and change them, and have reports sent by e-mail",
        "not submit or cancel jobs: managers read",
    ],
    ADMINISTRATOR: [
        "submit jobs; see, cancel, hold, release and requeue everybody's jobs",
        "register applications and publish programs that people offer",
        "measure the network, run experiments and read the audit trail",
        "plan maintenance, and announce something on every page",
        "make projects, say who works on them, and give them budgets",
        "have reports sent by e-mail",
        "invite people, give them roles, switch them off and on, and see the settings",
    ],
}


@transaction.atomic
def set_role(person: User, role: str, *, actor: User | str = "portal") -> User:
    """Give `person` exactly this role; administrators become superusers. Raises InputError for another word."""
    if role not in ALL_ROLES:
        raise InputError("role", role, f"one of {', '.join(ALL_ROLES)}")
    person.groups.remove(*Group.objects.filter(name__in=ROLES))
    if role != ADMINISTRATOR:
        person.groups.add(Group.objects.get_or_create(name=role)[0])
    person.is_superuser = person.is_staff = role == ADMINISTRATOR
    person.save(update_fields=["is_superuser", "is_staff"])
    vars(person).pop("role", None)
    audit(actor, "person.set_role", person, role=role)
    return person
