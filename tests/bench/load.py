"""Submissions for minutes: `python -m tests.bench.load MINUTES [RATE]` on a production set of its own.

Two clusters: one whose programs end at once, and one that is full, so that all jobs but a few wait. Printed are what
was answered and how late, whether every accepted job is a row and ended once (counted by the Grid, too), what each part
cost, and what the same rows cost in plain SQL on the same server in the same run.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from gridportal.testbed.client import Grid
from tests.bench import plain_rows
from tests.bench.load_client import Outcome, Submissions
from tests.bench.load_portal import LoadPortal, portal

RATE = 50.0
_A_MINUTE = 100  # submissions of each person; the limit is 120
_PLAIN_JOBS = 2000
_DRAIN = 1800.0
_ROWS = """
rows = list(Job.objects.order_by("pk").values_list("pk", "state"))
events = dict(JobEvent.objects.order_by().values_list("job").annotate(n=__import__("django").db.models.Count("pk",
    filter=__import__("django").db.models.Q(to_state__in=["succeeded", "failed", "cancelled"]))))
print(json.dumps({"states": rows, "ends": [[job, ends] for job, ends in events.items()]}))
"""
_OPEN = "print(json.dumps(Job.objects.filter(state__in=['queued','placing','waiting','starting','running']).count()))"
_URL = "print(json.dumps(os.environ['DATABASE_URL']))"


class Scenario(NamedTuple):
    """A cluster of so many nodes whose programs last so many seconds."""

    words: str
    nodes: int
    seconds: float


SCENARIOS = (Scenario("Programs end at once", 300, 0.0), Scenario("The cluster is full", 20, math.inf))


def main(minutes: float, rate: float) -> int:
    """Both scenarios; 1 when something was lost, refused without a rule, or ended twice."""
    wrong = 0
    for scenario in SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="gp-load-") as folder:
            Path(folder).chmod(0o755)  # PostgreSQL's user has to get to its part
            with portal(Path(folder), scenario.nodes, scenario.seconds) as made:
                _say(f"\n{scenario.words}: {rate:g} submissions a second for {minutes:g} minutes")
                wrong += _one(made, scenario, minutes, rate)
    return 1 if wrong else 0


def _one(made: LoadPortal, scenario: Scenario, minutes: float, rate: float) -> int:
    tokens = made.tokens(math.ceil(rate * 60 / _A_MINUTE))
    job: dict[str, Any] = {"application": "instant", "node_count": 1}
    before = made.busy()
    outcome = Submissions(made.port, tokens, job, rate, 60 * minutes).run()
    _say_answers(outcome)
    if scenario.seconds == 0:
        _say(f"all ended {_drained(made):.0f} s after the last was accepted")
    used = made.busy() - before
    wrong = _check(made, scenario, outcome)
    _say_cost(used, len(outcome.accepted))
    _compare(made, used, outcome)
    return wrong


def _drained(made: LoadPortal) -> float:
    begin = time.monotonic()
    while made.ask(_OPEN) and time.monotonic() - begin < _DRAIN:
        time.sleep(1)
    return time.monotonic() - begin


def _check(made: LoadPortal, scenario: Scenario, outcome: Outcome) -> int:
    """How many jobs are not accounted for."""
    rows = made.ask(_ROWS)
    states, ends = dict(rows["states"]), dict(rows["ends"])
    started = Grid(made.home / "grid")._ask("started")
    starts = Counter(int(key.split("-")[1]) for key in started)
    lost = [job for job in outcome.accepted if job not in states]
    twice = [job for job in states if ends.get(job, 0) > 1 or starts[job] > 1 or max(started.values()) > 1]
    unended = [job for job in states if scenario.seconds == 0 and (states[job] != "succeeded" or starts[job] != 1)]
    _say(
        f"{len(outcome.accepted)} accepted, {len(states)} rows, {sum(starts.values())} programs started; "
        f"lost {len(lost)}, ended or started twice {len(twice)}, not ended well {len(unended)}; "
        f"{dict(Counter(states.values()))}"
    )
    unruly = sum(number for status, number in outcome.refused.items() if status != "429")
    return len(lost) + len(twice) + len(unended) + unruly + outcome.unheeded


def _say_answers(outcome: Outcome) -> None:
    done = len(outcome.accepted)
    _say(f"accepted {done} in {outcome.seconds:.0f} s ({done / outcome.seconds:.1f} a second)")
    _say(f"other answers: {dict(outcome.refused) or 'none'}, 429 without Retry-After: {outcome.unheeded}")
    _say(f"broken connections: {dict(outcome.silent) or 'none'}")
    shares = ((0.5, "median"), (0.95, "p95"), (0.99, "p99"), (1.0, "worst"))
    _say("accepted after " + ", ".join(f"{name} {1e3 * outcome.percentile(share):.0f} ms" for share, name in shares))


def _say_cost(used: Counter[str], jobs: int) -> None:
    parts = ", ".join(f"{part} {1e3 * seconds / jobs:.1f}" for part, seconds in used.most_common())
    whole = 1e3 * sum(used.values()) / jobs
    _say(f"processor time of each job: {whole:.1f} ms ({parts}); two cores carry {2000 / whole:.0f} jobs a second")


def _compare(made: LoadPortal, used: Counter[str], outcome: Outcome) -> None:
    plain = plain_rows.write(made.ask(_URL), _PLAIN_JOBS)
    each = sum(used.values()) / len(outcome.accepted)
    late = outcome.percentile(0.99) / plain.p99
    _say(
        f"the same rows in plain SQL from two processes: {plain.rate:.0f} jobs a second, {1e3 * plain.busy:.1f} ms of "
        f"processor each, p99 of a submission {1e3 * plain.p99:.0f} ms; the portal costs {each / plain.busy:.1f} "
        f"times that, its p99 is {late:.1f} times that"
    )


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else RATE))
