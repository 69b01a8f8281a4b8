"""Why somebody whom a provider or the LDAP server knows is not let in, and the sentence that says it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gridportal.base.errors import GridPortalError

if TYPE_CHECKING:
    from gridportal.accounts.models import User


class Refusal(StrEnum):
    """The causes. Each is kept in the audit trail by its value."""

    NO_ANSWER = "no-answer"
    NOT_BEGUN = "not-begun"
    CANCELLED = "cancelled"
    BAD_ANSWER = "bad-answer"
    SWITCHED_OFF = "switched-off"
    GROUPS_MISSING = "groups-missing"
    NO_GROUP = "no-group"
    UNKNOWN_PERSON = "unknown-person"
    NO_EMAIL = "no-email"
    BAD_NAME = "bad-name"
    NAME_TAKEN = "name-taken"
    EMAIL_TAKEN = "email-taken"
    JOINED_BY_OTHER = "joined-by-other"
    JOINED_ALREADY = "joined-already"


MESSAGES = {
    Refusal.NO_ANSWER: "{provider} does not answer; try again later, or sign in another way.",
    Refusal.NOT_BEGUN: "This sign-in was not begun here, or more than ten minutes ago. Start it again.",
    Refusal.CANCELLED: "You were not signed in: {provider} says that you said no.",
    Refusal.BAD_ANSWER: "The answer of {provider} cannot be trusted, so you are not signed in. "
    "Try again; if this stays, tell an administrator.",
    Refusal.SWITCHED_OFF: "This account has been switched off; ask an administrator.",
    Refusal.GROUPS_MISSING: "{provider} does not say in which groups you are; an administrator has to set that up.",
    Refusal.NO_GROUP: "You are in none of the groups of {provider} that may use this portal.",
    Refusal.UNKNOWN_PERSON: "The portal does not know you yet; ask an administrator to invite you.",
    Refusal.NO_EMAIL: "{provider} gives no confirmed e-mail address of yours, which a new account needs.",
    Refusal.BAD_NAME: "{provider} gives no name that can be a username here: letters, digits and @ . + - _ only.",
    Refusal.NAME_TAKEN: "There is an account with your username already. Is it yours? Then sign in to it as before, "
    "and join it with {provider} on your Account page.",
    Refusal.EMAIL_TAKEN: "There is an account with your e-mail address already. Is it yours? Then sign in to it as "
    "before, and join it with {provider} on your Account page.",
    Refusal.JOINED_BY_OTHER: "This account of {provider} is joined with another person here.",
    Refusal.JOINED_ALREADY: "You are joined with an account of {provider} already; leave that one first.",
}


class SignInRefusedError(GridPortalError):
    """`person`: whom of the portal it is about, where that is known; `detail`: a word for the log, shown to nobody."""

    def __init__(self, reason: Refusal, provider: str, *, person: User | None = None, detail: str = "") -> None:
        self.reason, self.person, self.detail = reason, person, detail
        super().__init__(MESSAGES[reason].format(provider=provider))
