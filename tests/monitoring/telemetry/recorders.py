"""One process among several that record, move and read the same series, for the tests that kill some of them.

`python -m tests.monitoring.telemetry.recorders record SEED`, `... compact` (without end) and `... read` (prints JSON).
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime

START = 1_790_000_000
SUBJECTS = [f"n{number}" for number in range(6)]
MOMENTS = range(START, START + 40_000, 400)


def value(subject: str, at: int) -> float:
    """What was measured, which everybody agrees on."""
    return random.Random(f"{subject} {at}").randrange(1000) / 1000


def record(seed: int) -> None:
    """Every sample at least once, some twice, in an order of its own, some dozens at a time."""
    from monitoring.history.core.samples import Sample
    from monitoring.telemetry.services import readings

    rng = random.Random(seed)
    mine = [(subject, at) for subject in SUBJECTS for at in MOMENTS]
    mine += rng.sample(mine, 100)
    rng.shuffle(mine)
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while mine:
        some, mine = mine[:40], mine[40:]
        samples = [Sample(subject, "cpu", at, value(subject, at)) for subject, at in some]
        readings.record_readings("grid", "test", samples)


def compact() -> None:
    """Again and again, until it is killed."""
    from monitoring.history.services import compaction

    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while True:
        compaction.compact("grid", everything=True)


def read() -> None:
    """What the store has, how many it counted as new, and the newest values."""
    from monitoring.history.models import Block, Frame
    from monitoring.history.selectors import series as history_series
    from monitoring.history.services import compaction
    from monitoring.telemetry.models import Source

    compaction.compact("grid", everything=True)
    ends = (datetime.fromtimestamp(START, UTC), datetime.fromtimestamp(MOMENTS[-1], UTC))
    series = {}
    for subject in SUBJECTS:
        found = history_series.history("grid", subject, "cpu", *ends, resolution="raw")
        series[subject] = [found.at.tolist(), found.value.tolist()]
    live = {subject: one.at for (subject, _), one in history_series.live("grid").items()}
    counts = (Source.objects.get(name="test").samples, Frame.objects.count(), Block.objects.count())
    sys.stdout.write(json.dumps({"series": series, "live": live, "counts": counts}) + "\n")


def main() -> None:
    import django

    django.setup()
    what, *numbers = sys.argv[1:]
    {"record": record, "compact": compact, "read": read}[what](*map(int, numbers))


if __name__ == "__main__":
    main()
