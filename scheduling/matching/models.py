"""Ads that people write: requests that they keep, and what administrators say of nodes."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class SavedRequest(models.Model):
    """A request that somebody keeps under a name; with `shared` everybody may use it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_requests")
    name = models.CharField(max_length=80)
    text = models.TextField(help_text="One ClassAd.")
    shared = models.BooleanField(default=False, help_text="Everybody may use it; only its owner changes it.")
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name", "pk")
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_request_name_once")]

    def __str__(self) -> str:
        return self.name


class ResourceAd(models.Model):
    """What administrators add to the ad of a node, or of every node of a cluster: attributes, and requirements of its
    own about requests. Only `services.resource_policies` writes it."""

    cluster = models.SlugField(max_length=60)
    node = models.CharField(max_length=80, blank=True, help_text="Empty: every node of the cluster.")
    text = models.TextField(help_text="One ClassAd.")
    changed_by = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("cluster", "node")
        constraints = [models.UniqueConstraint(fields=["cluster", "node"], name="one_ad_per_node")]

    def __str__(self) -> str:
        return f"ad of {self.node or 'every node'} of {self.cluster}"
