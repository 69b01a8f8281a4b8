"""People, their tokens, and the trail of what they did."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from gridportal.accounts.group_role_models import GIVEN_ROLES, GroupRole
from gridportal.accounts.saved_view_models import SavedView

__all__ = ["EXPIRES_SOON", "ROLES", "ApiToken", "AuditEvent", "AuditTrail", "GroupRole", "SavedView", "User"]

ROLES = ("user", "operator", "manager")
EXPIRES_SOON = timedelta(days=14)


class User(AbstractUser):
    """A person. The role is the Django group of that name, or what another group gives; administrators are superusers.

    `keeps_tokens` is no column: set before a new password is saved, it says that the API tokens outlive the old one.
    """

    from_log = models.SlugField(
        max_length=60,
        blank=True,
        default="",
        db_default="",
        db_index=False,
        help_text="The log of jobs that named this person, who cannot sign in; empty for all others.",
    )
    keeps_tokens = False

    @cached_property
    def role(self) -> str:
        """administrator, operator, manager or user: the highest that applies."""
        if self.is_superuser:
            return "administrator"
        held = self._roles_of_groups() if self.pk else set()
        return next((role for role in GIVEN_ROLES if role in held), "user")

    def _roles_of_groups(self) -> set[str | None]:
        """The names of the groups, and the roles that they give; no query where lists have fetched both for all."""
        fetched = getattr(self, "_prefetched_objects_cache", {}).get("groups")
        if fetched is None or not all("given" in group._state.fields_cache for group in fetched):
            return set(chain(*self.groups.values_list("name", "given__role")))
        given = [getattr(group, "given", None) for group in fetched]
        return {group.name for group in fetched} | {each.role for each in given if each is not None}

    @property
    def own_role(self) -> str:
        """The role without what groups give beside it."""
        held = {group.name for group in self.groups.all()} if self.pk else set()
        return "administrator" if self.is_superuser else next((role for role in GIVEN_ROLES if role in held), "user")

    @property
    def lifted_by(self) -> str:
        """The group that gives a higher role than the own one, and which: "operator by the group ops"; else empty."""
        for role in () if self.is_superuser else GIVEN_ROLES[: GIVEN_ROLES.index(self.own_role)]:
            for group in self.groups.all():
                if getattr(group, "given", None) and group.given.role == role:
                    return f"{role} by the group {group.name}"
        return ""

    @property
    def own_groups(self) -> list[str]:
        """The groups of a person by name, without those that are roles."""
        return sorted(group.name for group in self.groups.all() if group.name not in ROLES)


class ApiToken(models.Model):
    """A bearer token. Only its SHA-256 is kept; the text is shown once, when it is made."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, help_text="The first letters, to tell tokens apart.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def expires_soon(self) -> bool:
        """Whether it is time for another one."""
        return self.expires_at is not None and not self.is_expired and self.expires_at <= timezone.now() + EXPIRES_SOON

    @property
    def is_expired(self) -> bool:
        """Whether its last day is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @staticmethod
    def digest_of(text: str) -> str:
        """SHA-256 of a token's text; the text has 256 random bits, so no salt is needed."""
        return hashlib.sha256(text.encode()).hexdigest()


class AuditTrail(models.QuerySet["AuditEvent"]):
    """Rows that can be read and added, not changed in bulk either."""

    def update(self, **kwargs: Any) -> int:
        raise TypeError("The audit trail is append-only.")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError("The audit trail is append-only.")


class AuditEvent(models.Model):
    """One action by someone on something. Rows are only ever added."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    actor_name = models.CharField(max_length=150, help_text="Kept when the account goes; 'portal' for the portal.")
    action = models.CharField(max_length=60, help_text="noun.verb, e.g. job.cancel")
    object_type = models.CharField(max_length=40, blank=True)
    object_id = models.CharField(max_length=64, blank=True)
    object_label = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)
    request_id = models.CharField(max_length=36, blank=True)
    address = models.GenericIPAddressField(null=True, blank=True)

    objects = AuditTrail.as_manager()

    class Meta:
        ordering = ("-at", "-pk")
        indexes = [
            models.Index(fields=["object_type", "object_id"]),
            models.Index(fields=["-at", "-id", "action", "actor_name"], name="audit_newest"),
            models.Index(fields=["action", "-at", "-id"], name="audit_action"),
            models.Index(fields=["actor_name", "-at", "-id"], name="audit_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.object_label}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk:
            raise TypeError("The audit trail is append-only.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        raise TypeError("The audit trail is append-only.")
