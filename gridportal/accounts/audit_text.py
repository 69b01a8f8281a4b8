"""Rows of the audit trail in words: who did what to what."""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.accounts.models import AuditEvent

#: What somebody did, by the second part of an action; {} is what it was done to.
_DONE: Mapping[str, str] = {
    "approve": "approved {}",
    "bring": "brought {}",
    "build": "began to build {}",
    "cancel": "cancelled {}",
    "change": "changed {}",
    "change_moves": "changed whether {} may be moved",
    "change_notices": "changed the notices of {}",
    "change_password": "changed the password of {}",
    "change_policy": "changed the rules on {}",
    "change_schedule": "changed the schedule of {}",
    "check": "had {} checked",
    "create": "made {}",
    "end": "ended {}",
    "give_permissions": "changed what {} lets its members do",
    "give_role": "changed the role that {} gives",
    "hold": "held {} in the queue",
    "import": "read a log of jobs into {}",
    "join_group": "put {} into a group",
    "join_identity": "joined {} with an identity of single sign-on or LDAP",
    "leave_group": "took {} out of a group",
    "leave_identity": "parted {} from an identity of single sign-on or LDAP",
    "make": "made {}",
    "make_schedule": "scheduled {}",
    "measure": "had {} measured",
    "move": "asked to move {}",
    "mute": "muted {}",
    "offer": "offered {} to everybody",
    "override": "overrode {}",
    "plan": "planned {}",
    "propose": "proposed to move {}",
    "publish": "published {}",
    "recovery_codes_made": "made recovery codes for {}",
    "refuse": "refused {}",
    "register": "registered {}",
    "release": "released {}",
    "remove": "removed {}",
    "removed": "removed all of {}",
    "remove_inputs": "removed the input files of {}",
    "remove_schedule": "ended the schedule of {}",
    "rename": "renamed {}",
    "rename_key": "renamed a security key of {}",
    "requeue": "put {} back into the queue",
    "resubmit": "submitted {} again",
    "resume": "resumed {}",
    "revoke": "revoked {}",
    "save": "saved {}",
    "second_factor_failed": "gave a wrong code for {}",
    "second_factor_removed": "removed the second factor of {}",
    "second_factor_set": "set up a second factor for {}",
    "send": "sent {}",
    "set_role": "changed the role of {}",
    "share": "shared {}",
    "sign_in": "signed in",
    "sign_in_failed": "failed to sign in",
    "sign_in_refused": "was not let in",
    "sign_out": "signed out",
    "start": "started {}",
    "stop": "stopped {}",
    "submit": "submitted {}",
    "switch_off": "locked out {}",
    "switch_on": "let {} in again",
    "take_candidate": "took another candidate group for {}",
    "unshare": "stopped sharing {}",
    "weigh": "weighed {}",
    "withdraw": "withdrew the offer of {}",
}
#: Actions that are told otherwise where they are told without what they were done to.
_ALONE: Mapping[str, str] = {"move.propose": "proposed a move"}
#: Objects that are no single thing.
_PLURALS = ("moves",)
#: States of a decision on a move, which are actions on it.
_DECIDED: Mapping[str, str] = {
    "approved": "approved {}",
    "refused": "refused {}",
    "overridden": "overrode {}",
}


def action_text(event: AuditEvent) -> str:
    """What was done to what, without who did it; an action that nobody described by its own name.

    >>> action_text(AuditEvent(action="job.cancel", object_type="job", object_label="job 12"))
    'cancelled job 12'
    >>> action_text(AuditEvent(action="alert_rule.mute", object_type="alertrule", object_label="Busy links"))
    'muted the alert rule Busy links'
    """
    noun, _, verb = event.action.partition(".")
    done = _DONE.get(verb) or _DECIDED.get(verb)
    what = _object_text(noun, event)
    if done is None:
        return f"{event.action.replace('_', ' ').replace('.', ': ')} {event.object_label}".strip()
    return done.format(what).strip()


def action_label(action: str) -> str:
    """An action without what it was done to, for a list to choose from.

    >>> action_label("job.cancel"), action_label("alert_rule.mute"), action_label("person.sign_in"), action_label("job")
    ('cancelled a job', 'muted an alert rule', 'signed in', 'job')
    """
    if action in _ALONE:
        return _ALONE[action]
    noun, _, verb = action.partition(".")
    done = _DONE.get(verb) or _DECIDED.get(verb)
    words = noun.replace("_", " ")
    if done is None:
        return action.replace("_", " ").replace(".", ": ")
    return done.format(words if noun in _PLURALS else f"{'an' if words[:1] in 'aeiou' else 'a'} {words}")


def is_described(action: str) -> bool:
    """Whether an action has words of its own."""
    verb = action.partition(".")[2]
    return verb in _DONE or verb in _DECIDED


def _object_text(noun: str, event: AuditEvent) -> str:
    words, label = noun.replace("_", " "), event.object_label
    if not label:
        return f"the {words}"
    first = label.split()[0].lower()
    names_itself = first in words.split() or event.object_type.endswith(first)
    return label if noun == "person" or names_itself else f"the {words} {label}"
