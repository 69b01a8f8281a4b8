"""Clusters with their nodes and links, and what was last measured on them."""

from __future__ import annotations

import uuid

from django.db import models

from gridportal.base.traits import GRID, TRAITS, Traits


def new_figures_key() -> str:
    """One that was never there, not even before a change that was taken back."""
    return uuid.uuid4().hex


class Cluster(models.Model):
    """One place where jobs run."""

    name = models.SlugField(max_length=60, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    topology = models.CharField(max_length=80, blank=True, help_text="Name of the topology it was built from.")
    kind = models.CharField(max_length=10, default="links", help_text="links or pairs, as in the topology file")
    directed = models.BooleanField(default=False)
    routing = models.JSONField(default=str, blank=True, help_text="graph.routing of its topology file; empty: short.")
    mode = models.CharField(max_length=30, blank=True, help_text="user-namespaces, root or unshaped")
    warning = models.TextField(blank=True, help_text="What a person must know before trusting its figures.")
    facts = models.JSONField(default=dict, blank=True, help_text="Partitions, features, GRES, ... to choose from.")
    loads_at = models.DateTimeField(null=True, blank=True, help_text="When the nodes were last looked at.")
    measured_at = models.DateTimeField(null=True, blank=True)
    figures_key = models.CharField(
        max_length=32, default=new_figures_key, help_text="Another one each time that something of its links changes."
    )
    measuring_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a measurement under way.")
    measuring_holder = models.CharField(max_length=64, blank=True)
    polling_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a poll of all its runs.")
    polling_holder = models.CharField(max_length=64, blank=True)
    probe_seconds = models.FloatField(null=True, blank=True)
    probe_bytes = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="Why the last measurement failed; empty when it did not.")
    error_at = models.DateTimeField(null=True, blank=True)
    poll_error = models.TextField(blank=True, help_text="Why its runs cannot be followed; empty when they can.")
    poll_failed_at = models.DateTimeField(null=True, blank=True, help_text="Since when that is so.")

    def __str__(self) -> str:
        return self.name

    @property
    def traits(self) -> Traits:
        """What is true of all clusters with its backend; of one that is not known any more what a Grid promises."""
        return TRAITS.get(self.backend, GRID)


class Node(models.Model):
    """A compute node or a network node (switch, router) with its last measured state."""

    KINDS = [("compute", "compute node"), ("network", "network node")]

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=80)
    position = models.PositiveIntegerField(default=0, help_text="Order in the topology.")
    kind = models.CharField(max_length=10, choices=KINDS, default="compute")
    speed = models.FloatField(default=1.0)
    labels = models.JSONField(default=dict, blank=True)
    cpu = models.FloatField(null=True, blank=True, help_text="Available fraction 0..1 = 1/(1+load).")
    load = models.FloatField(null=True, blank=True)
    closed = models.TextField(blank=True, help_text="Why it takes no jobs; empty: it takes some.")
    busy = models.BooleanField(default=False, help_text="The cluster runs a job on it that leaves no room.")
    free_at = models.DateTimeField(null=True, blank=True, help_text="When it is free at the latest, where known.")
    facts = models.JSONField(default=dict, blank=True, help_text="state, partitions, features, gres, memory, cpus")
    measured_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("position", "name")
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_name_once_per_cluster")]

    def __str__(self) -> str:
        return self.name


class Link(models.Model):
    """A link, or one direction of a link, or the private path of an ordered pair on a crossbar."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="links")
    source = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="links_out")
    target = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="links_in")
    capacity = models.FloatField(help_text="Peak, bit/s (maxbw).")
    bandwidth = models.FloatField(null=True, blank=True, help_text="Available now, bit/s (bw).")
    latency = models.FloatField(null=True, blank=True, help_text="Seconds, one way.")
    origin = models.CharField(max_length=10, blank=True, help_text="probe, or counter: the peak less what is used.")
    measured_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("source__position", "target__position")
        constraints = [models.UniqueConstraint(fields=["cluster", "source", "target"], name="link_once")]

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"
