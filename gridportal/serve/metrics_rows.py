"""What the database knows, as Prometheus reads it: jobs by state, placements, and how telemetry goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.conf import settings
from django.db.models import Count, Sum
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector

from gridportal.serve import parts
from gridportal.web.paging import counted
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import configured
from monitoring.telemetry.selectors import sources
from scheduling.jobs.models import STATES, Job
from scheduling.placing.models import Placement
from scheduling.runs.core.run_states import OPEN
from scheduling.runs.models import Run


class Rows(Collector):
    """A handful of queries each time it is read."""

    def collect(self) -> Iterator[Metric]:
        yield jobs()
        yield placements()
        yield from telemetry()
        yield sweeps()
        yield polls()
        yield unread_runs()
        yield from processes()


def jobs() -> Metric:
    """How many jobs are in each state, those without any too."""
    family = GaugeMetricFamily("gridportal_jobs", "Jobs by state.", labels=["state"])
    counts = counted(Job, "state")
    for state, _ in STATES:
        family.add_metric([state], counts.get(state, 0))
    return family


def placements() -> Metric:
    """Seconds that choosing the nodes took."""
    family = SummaryMetricFamily("gridportal_placement_seconds", "Seconds of choosing the nodes.", labels=["method"])
    rows = Placement.objects.order_by().values_list("method").annotate(Count("pk"), Sum("seconds"))
    for method, count, seconds in rows:
        family.add_metric([method], count_value=count, sum_value=seconds)
    return family


def telemetry() -> Iterator[Metric]:
    """Age, lag and cost of every source; a source that never answered has no age."""
    labels = ["cluster", "source", "kind"]
    age = GaugeMetricFamily("gridportal_source_age_seconds", "Seconds since the source last answered.", labels=labels)
    lag = GaugeMetricFamily("gridportal_source_lag_seconds", "Seconds that the source's figures lag.", labels=labels)
    stale = GaugeMetricFamily("gridportal_source_stale", "1 when it failed or missed polls.", labels=labels)
    kept = CounterMetricFamily("gridportal_source_samples", "Samples kept.", labels=labels)
    cost = CounterMetricFamily("gridportal_source_cost_bytes", "Bytes that asking cost the network.", labels=labels)
    took = CounterMetricFamily("gridportal_source_cost_seconds", "Seconds that asking took.", labels=labels)
    for cluster in configured():
        for row in sources(cluster):
            named = [cluster, row.name, row.kind]
            if row.age is not None:
                age.add_metric(named, row.age)
            if row.lag is not None:
                lag.add_metric(named, row.lag)
            stale.add_metric(named, float(row.stale))
            kept.add_metric(named, row.samples)
            cost.add_metric(named, row.total_bytes)
            took.add_metric(named, row.total_seconds)
    yield from (age, lag, stale, kept, cost, took)


def polls() -> Metric:
    """For how long the runs of each cluster could not be followed; /readyz says why."""
    family = GaugeMetricFamily(
        "gridportal_poll_failed_seconds",
        "Seconds since polling began to fail; 0 when well.",
        labels=["cluster"],
    )
    since = dict(Cluster.objects.values_list("name", "poll_failed_at"))
    for name in configured():
        at = since.get(name)
        family.add_metric([name], (timezone.now() - at).total_seconds() if at else 0.0)
    return family


def unread_runs() -> Metric:
    """How many runs that go on cannot be followed, by what is wrong with them."""
    family = GaugeMetricFamily(
        "gridportal_runs_unread", "Runs that cannot be followed, by fault.", labels=["cluster", "fault"]
    )
    rows = Run.objects.filter(state__in=OPEN, unread_since__isnull=False)
    counts = Counter(
        (cluster, (unread or {})["fault"]) for cluster, unread in rows.values_list("job__cluster", "unread")
    )
    for (cluster, fault), count in sorted(counts.items()):
        family.add_metric([cluster, fault.lower()], count)
    return family


def sweeps() -> Metric:
    """Age of the last measurement of each cluster's network."""
    family = GaugeMetricFamily(
        "gridportal_network_age_seconds", "Seconds since the network was measured.", labels=["cluster"]
    )
    measured = Cluster.objects.filter(name__in=configured(), measured_at__isnull=False)
    for name, at in measured.values_list("name", "measured_at"):
        if at is not None:
            family.add_metric([name], (timezone.now() - at).total_seconds())
    return family


def processes() -> Iterator[Metric]:
    """Whether each process of the supervisor on this machine does its work, and how often it was started again."""
    up = GaugeMetricFamily("gridportal_process_up", "1 when the process runs.", labels=["process"])
    silent = GaugeMetricFamily("gridportal_process_silent_seconds", "Seconds without progress.", labels=["process"])
    restarts = CounterMetricFamily("gridportal_process_restarts", "Times that it ended.", labels=["process"])
    for part in parts.read(settings.PORTAL.home) or ():
        up.add_metric([part.name], float(not part.is_down))
        silent.add_metric([part.name], part.silent)
        restarts.add_metric([part.name], part.restarts)
    yield from (up, silent, restarts)
