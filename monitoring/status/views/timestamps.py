"""A moment of the past in the address, and the slider that goes through a range of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gridportal.base.dates import MomentField
from gridportal.web.worded_form import WordedForm
from monitoring.status.views.time_ranges import TimeRange, TimeRangeForm

_STEPS = 240
_SHORTEST = 5.0


class MomentForm(WordedForm):
    """`at`: a moment, UTC where no zone is given."""

    at = MomentField(label="At, UTC", required=False)

    def moment(self, now: datetime) -> datetime | None:
        """None for now, for what lies in the future, and for what cannot be read (the form then has the error)."""
        self.is_valid()
        found: datetime | None = self.cleaned_data.get("at")
        return found if found is not None and found < now else None


@dataclass(frozen=True)
class Slider:
    """A range of moments in even steps; `place` is where the page is, `last` is now or the end of the range."""

    span: TimeRange
    begin: int
    step: int
    last: int
    place: int

    @property
    def ends_now(self) -> bool:
        """Whether its last place is the live picture."""
        return bool(self.span.preset)


def slider(query: Mapping[str, str], at: datetime | None, now: datetime) -> Slider:
    """The slider that the address asks for; its steps are whole seconds."""
    span = TimeRangeForm(query).span(now)
    length = max(_SHORTEST, (span.end - span.start).total_seconds())
    step = max(int(_SHORTEST), round(length / _STEPS))
    last = max(1, int(length // step))
    begin = int(span.end.timestamp()) - last * step
    place = last if at is None else min(last, max(0, round((at.timestamp() - begin) / step)))
    return Slider(span, begin, step, last, place)
