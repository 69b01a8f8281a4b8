"""What other apps call: the audit trail, tokens, people and roles under one name."""

from __future__ import annotations

from gridportal.accounts.audit import Subject, audit
from gridportal.accounts.passwords import set_password
from gridportal.accounts.people import create_person, ensure_demo_people, switch
from gridportal.accounts.roles import set_role
from gridportal.accounts.tokens import create_token, revoke_token, revoke_tokens

__all__ = [
    "Subject",
    "audit",
    "create_person",
    "create_token",
    "ensure_demo_people",
    "revoke_token",
    "revoke_tokens",
    "set_password",
    "set_role",
    "switch",
]
