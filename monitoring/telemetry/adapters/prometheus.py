"""Samples from a Prometheus: what node_exporter tells of the nodes, and what interfaces carry."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from gridportal.base.errors import BackendError
from gridportal.base.prometheus_setting import Prometheus
from monitoring.history.core.samples import SUBJECT_LENGTH, Collected, Sample
from monitoring.telemetry.adapters.prometheus_api import Answered, Api

_SCRAPED = "timestamp(up)"
_CLOCK = "vector(time())"
_SAME_CLOCK = 2.0  # seconds: what asking may take, so no difference of clocks
_GAP = 3  # steps without an answer after which the missing values are asked for
Times = dict[str, float]


@dataclass(frozen=True)
class PrometheusSource:
    """Asks for the newest values, and after a gap for those that were missed.

    A value has the time at which Prometheus scraped the node, on our clock. `nodes`: the cluster's; where it is not
    empty, other machines that Prometheus watches are left out. `since` (Unix seconds): what is known already.
    """

    name: str
    setting: Prometheus
    authorization: str = ""
    nodes: frozenset[str] = frozenset()
    since: float | None = None
    kind: str = "prometheus"

    def collect(self, now: float) -> Collected:
        """All metrics. `lag` is the age of the newest scrape, and with clocks that differ their difference on top.

        Raises BackendError where a question is not answered, or no answer is about a node.
        """
        with closing(Api(self.setting.url, self.authorization, self.setting.timeout)) as api:
            theirs = next((value for each in api.now(_CLOCK) for _, value in each.points), now)
            offset = theirs - now if abs(theirs - now) > _SAME_CLOCK else 0.0
            scraped = self._scraped(api)
            samples = [*self._missed(api, now, offset), *self._newest(api, scraped, theirs, offset)]
            if not samples:
                raise BackendError(f"Prometheus at {self.setting.url} tells nothing about the nodes: {self._why()}.")
            lag = max(0.0, theirs - max(scraped.values(), default=theirs)) + abs(offset)
            return Collected(tuple(samples), api.bytes, lag)

    def _scraped(self, api: Api) -> Times:
        """When each target was scraped last, by its label."""
        times: Times = {}
        for each in api.now(_SCRAPED):
            label = each.labels.get(self.setting.node_label, "")
            times[label] = max(times.get(label, 0.0), *(value for _, value in each.points), 0.0)
        return times

    def _newest(self, api: Api, scraped: Times, theirs: float, offset: float) -> Iterator[Sample]:
        for metric, query in self.setting.questions.items():
            for subject, each in self._about(api.now(query), metric):
                at = scraped.get(each.labels.get(self.setting.node_label, ""), theirs)
                for _, value in each.points:
                    yield Sample(subject, metric, at - offset, value)

    def _missed(self, api: Api, now: float, offset: float) -> Iterator[Sample]:
        """The values since the last answer, at most as far back as the setting `backfill`; none where that is recent.

        The times are multiples of the step, so that asking twice brings the same samples.
        """
        step, setting = self.setting.step, self.setting
        begin = max(self.since or 0.0, now - setting.backfill)
        if now - begin <= _GAP * step:
            return
        since, until = math.ceil((begin + offset) / step) * step, (now + offset) // step * step - step
        if until < since:
            return
        for metric, query in setting.questions.items():
            for subject, each in self._about(api.past(query, since, until, step), metric):
                for at, value in each.points:
                    yield Sample(subject, metric, at - offset, value)

    def _about(self, answers: list[Answered], metric: str) -> Iterator[tuple[str, Answered]]:
        for each in answers:
            node = self.setting.node(each.labels.get(self.setting.node_label, ""))
            device = each.labels.get(self.setting.interface_label, "")
            subject = f"{node}:{device}" if device else node
            if node and (not self.nodes or node in self.nodes) and len(subject) <= SUBJECT_LENGTH:
                yield subject, each

    def _why(self) -> str:
        label, pattern = self.setting.node_label, self.setting.node_pattern
        such_as = f" that is one of {', '.join(sorted(self.nodes)[:5])}" if self.nodes else ""
        return f"no answer has a label {label} from which {pattern} takes a name{such_as}"
