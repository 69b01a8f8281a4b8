"""Roles that groups give to their members."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db import models

#: In the order in which one counts before another; an administrator is made by name alone.
GIVEN_ROLES = ("operator", "manager", "user")


class GroupRole(models.Model):
    """Whoever is in the group has at least this role."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="given")
    role = models.CharField(max_length=20, choices=[(role, role) for role in GIVEN_ROLES])

    def __str__(self) -> str:
        return f"{self.group} gives {self.role}"
