"""Predicates over people, and what of the accounts they open."""

from __future__ import annotations

from typing import Any

import rules
from django.contrib.auth.backends import ModelBackend


def holds(*roles: str) -> rules.Predicate:
    """Whether an active person holds one of these roles; administrators are always among them."""

    def held(user: Any) -> bool:
        return bool(user.is_authenticated and user.is_active and user.role in {*roles, "administrator"})

    return rules.Predicate(held, name=f"holds:{'|'.join(roles)}")


def granted(permission: str) -> rules.Predicate:
    """Whether an administrator has given an active person, or a group of theirs, this Django permission."""

    def held(user: Any) -> bool:
        return bool(user.is_authenticated and permission in ModelBackend().get_all_permissions(user))

    return rules.Predicate(held, name=f"granted:{permission}")


signed_in = holds("user", "operator", "manager")
submits = holds("user", "operator")
operates = holds("operator")
oversees = holds("operator", "manager")
manages = holds("manager")
administers = holds()

rules.add_perm("accounts.view_audit", oversees)
rules.add_perm("accounts.manage_people", administers)
