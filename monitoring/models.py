"""What is known of the clusters: nodes, links, and what was measured on them."""

from __future__ import annotations

import uuid

from django.db import models


class Cluster(models.Model):
    """One place where jobs run: an emulated Grid or a Slurm cluster."""

    name = models.SlugField(max_length=60, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    topology = models.CharField(max_length=80, blank=True, help_text="Name of the topology it was built from.")
    kind = models.CharField(max_length=10, default="links", help_text="links or pairs, as in the topology file")
    directed = models.BooleanField(default=False)
    mode = models.CharField(max_length=30, blank=True, help_text="user-namespaces, root or unshaped")
    warning = models.TextField(blank=True, help_text="What a person must know before trusting its figures.")
    facts = models.JSONField(default=dict, blank=True, help_text="Partitions, features, GRES, ... to choose from.")
    loads_at = models.DateTimeField(null=True, blank=True, help_text="When the nodes were last looked at.")
    measured_at = models.DateTimeField(null=True, blank=True)
    measuring_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a measurement under way.")
    polling_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a poll of all its runs.")
    probe_seconds = models.FloatField(null=True, blank=True)
    probe_bytes = models.BigIntegerField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="Why the last measurement failed; empty when it did not.")
    error_at = models.DateTimeField(null=True, blank=True)
    poll_error = models.TextField(blank=True, help_text="Why its runs cannot be followed; empty when they can.")
    poll_failed_at = models.DateTimeField(null=True, blank=True, help_text="Since when that is so.")

    def __str__(self) -> str:
        return self.name


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


class Source(models.Model):
    """Where a cluster's figures come from, and how that goes. `age`, `stale`, `partly` are set by the selector."""

    age: float | None
    stale: bool
    partly: bool

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="sources")
    name = models.CharField(max_length=60)
    kind = models.CharField(max_length=20, help_text="grid, slurm, agent, prometheus, probes, ...")
    polled_at = models.DateTimeField(null=True, blank=True, help_text="When it was last asked.")
    last_ok = models.DateTimeField(null=True, blank=True, help_text="When it last answered.")
    error = models.TextField(blank=True, help_text="Why it did not answer; empty when it did.")
    error_at = models.DateTimeField(null=True, blank=True)
    lag = models.FloatField(null=True, blank=True, help_text="Seconds that it lags, or that its clock differs.")
    samples = models.BigIntegerField(default=0, help_text="How many of its samples were ever kept.")
    cost_bytes = models.BigIntegerField(default=0, help_text="What asking cost the network the last time.")
    cost_seconds = models.FloatField(default=0.0, help_text="How long asking took the last time.")
    total_bytes = models.BigIntegerField(default=0)
    total_seconds = models.FloatField(default=0.0)
    polling_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a question under way.")

    class Meta:
        ordering = ("cluster", "name")
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="source_name_once_per_cluster")]

    def __str__(self) -> str:
        return self.name


class Snapshot(models.Model):
    """The newest value of every series of a cluster, in one row. Whoever records holds its lock.

    A series has a number, which is the place of its name in `names` and of its figures in `figures`.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="snapshot")
    lineage = models.UUIDField(default=uuid.uuid4, help_text="Whose state of forecasts a file is.")
    edition = models.UUIDField(help_text="Another one whenever the names change: processes keep them by it.")
    names = models.BinaryField(help_text="Subject and metric of every series, deflated.")
    figures = models.BinaryField(help_text="Value, time, source and forecast of every series.")
    updates = models.BigIntegerField(default=0, help_text="How often something was recorded.")
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Snapshot of {self.cluster}"


class Page(models.Model):
    """Some hundred series with numbers in a row. Whoever moves its frames into blocks holds its lock."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "number"], name="page_once_per_cluster")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.number}"


class Frame(models.Model):
    """What came in at once for the series of one page, until it is moved into blocks. Of one moment the frame with
    the highest key counts."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="frames")
    oldest = models.BigIntegerField(help_text="Milliseconds since 1970.")
    newest = models.BigIntegerField(help_text="Milliseconds since 1970.")
    samples = models.PositiveIntegerField()
    kept_at = models.DateTimeField(auto_now_add=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.samples} samples"


class Block(models.Model):
    """A few series over some hours: raw, or rolled up to minutes or hours."""

    TIERS = [(0, "raw"), (1, "minute"), (2, "hour")]

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    group = models.PositiveIntegerField(help_text="The series with these numbers: group * 16 up to 15 more.")
    tier = models.PositiveSmallIntegerField(choices=TIERS)
    start = models.BigIntegerField(help_text="Milliseconds since 1970, a multiple of the tier's span.")
    samples = models.PositiveIntegerField(help_text="Samples or points in it.")
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["page", "group", "tier", "start"], name="block_once")]
        indexes = [models.Index(fields=["tier", "start"])]

    def __str__(self) -> str:
        return f"{self.get_tier_display()} {self.group} {self.start}"
