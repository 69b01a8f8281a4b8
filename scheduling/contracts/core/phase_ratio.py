"""Actual against predicted seconds of one phase in constant space, and which ratio foretells its rest better."""

from __future__ import annotations

from dataclasses import astuple, dataclass

#: Reports that the ratio of the latest covers at least, and the share of all that it covers of a long run.
_LATEST, _LATEST_SHARE = 5, 0.02
#: Reports over which errors of the two ratios are compared.
_COMPARED = 20


@dataclass(slots=True)
class PhaseRatio:
    """Sums over the reports of a phase; `latest_...`: with the earlier ones fading out; `share`: done of it, 0..1.

    average_error and latest_error: how far the next ratio was from the one of either kind, fading out as well.
    """

    count: int = 0
    share: float = 0.0
    actual: float = 0.0
    predicted: float = 0.0
    latest_actual: float = 0.0
    latest_predicted: float = 0.0
    average_error: float = 0.0
    latest_error: float = 0.0

    def add(self, actual: float, predicted: float, reports: int | None) -> None:
        """Count a report in; `reports`: how many of them a whole run has. `predicted` is above 0."""
        if self.predicted > 0:
            ratio, kept = actual / predicted, 1 - 1 / _COMPARED
            self.average_error = kept * self.average_error + abs(ratio - self.actual / self.predicted)
            self.latest_error = kept * self.latest_error + abs(ratio - self.latest_actual / self.latest_predicted)
        kept = 1 - 1 / max(_LATEST, _LATEST_SHARE * (reports or 0))
        self.count += 1
        self.actual += actual
        self.predicted += predicted
        self.latest_actual = kept * self.latest_actual + actual
        self.latest_predicted = kept * self.latest_predicted + predicted

    @property
    def expected(self) -> float | None:
        """The ratio to expect of the rest: the average, or that of the latest reports where these foretold better."""
        if self.predicted <= 0:
            return None
        if self.latest_error < self.average_error:
            return self.latest_actual / self.latest_predicted
        return self.actual / self.predicted

    def numbers(self) -> list[float]:
        """As JSON, and back by `PhaseRatio(*numbers)`."""
        return list(astuple(self))
