"""Submissions for minutes: `python -m tests.bench.load MINUTES [RATE] [FILE]` on production sets of its own.

Two clusters, one after the other: one whose programs end at once, and one that is full, so that all jobs but a few
wait. Printed, and written to FILE, are what was answered and how late, whether every accepted job is a row and ended
once (counted by the Grid, too), what each part cost, and what the same rows cost in plain SQL on the same server in the
same run. Exit code 1 when one was lost, made or ended twice, or refused by anything but a 429 that says when to come
again. Nobody has to look after it, and what it starts it ends.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gridportal.testbed.client import Grid
from tests.bench import plain_rows
from tests.bench.load_client import Outcome, Submissions, percentile
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


def main(minutes: float, rate: float, file: Path) -> int:
    """Both scenarios; 1 when something was lost, refused without a rule, or ended twice."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("", encoding="utf-8")
    say = _Say(file)
    now, load = time.strftime("%Y-%m-%d %H:%M", time.gmtime()), os.getloadavg()[0]
    say(f"{now} UTC, {os.cpu_count()} processors, load {load:.1f}. What is said here is also in {file}.")
    say(f"This takes about {2 * (minutes + 2):.0f} minutes, more where the portal is slower than what is asked of it.")
    wrong = sum(_scenario(scenario, minutes, rate, say) for scenario in SCENARIOS)
    say(f"\n{'As it should be' if not wrong else f'{wrong} things are wrong'}.")
    return 1 if wrong else 0


class _Say:
    """Prints lines, and keeps them in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, words: str) -> None:
        sys.stdout.write(words + "\n")
        sys.stdout.flush()
        with self._file.open("a", encoding="utf-8") as file:
            file.write(words + "\n")


def _scenario(scenario: Scenario, minutes: float, rate: float, say: _Say) -> int:
    with tempfile.TemporaryDirectory(prefix="gp-load-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL's user has to get to its part
        with portal(Path(folder), scenario.nodes, scenario.seconds) as made:
            say(f"\n{scenario.words}: {rate:g} submissions a second for {minutes:g} minutes")
            return _one(made, scenario, minutes, rate, say)


def _one(made: LoadPortal, scenario: Scenario, minutes: float, rate: float, say: _Say) -> int:
    tokens = made.tokens(math.ceil(rate * 60 / _A_MINUTE))
    job: dict[str, Any] = {"application": "instant", "node_count": 1}
    before, begin = made.busy(), time.monotonic()
    outcome = Submissions(made.port, tokens, job, rate, 60 * minutes).run()
    _say_answers(outcome, say)
    if scenario.seconds == 0:
        say(f"all ended {_drained(made):.0f} s after the last was accepted")
    used, took = made.busy() - before, time.monotonic() - begin
    wrong = _check(made, scenario, outcome, say)
    _say_cost(used, outcome, took, say)
    _compare(made, used, outcome, say)
    return wrong


def _drained(made: LoadPortal) -> float:
    begin = time.monotonic()
    while made.ask(_OPEN) and time.monotonic() - begin < _DRAIN:
        time.sleep(1)
    return time.monotonic() - begin


def _check(made: LoadPortal, scenario: Scenario, outcome: Outcome, say: _Say) -> int:
    """How many jobs are not accounted for, and how many answers were none that a rule gives."""
    rows = made.ask(_ROWS)
    states, ends = dict(rows["states"]), dict(rows["ends"])
    started = Grid(made.home / "grid")._ask("started")
    starts = Counter(int(key.split("-")[1]) for key in started)
    lost = [job for job in outcome.accepted if job not in states]
    unasked = len(set(states) - set(outcome.accepted)) + len(outcome.accepted) - len(set(outcome.accepted))
    twice = [job for job in states if ends.get(job, 0) > 1 or starts[job] > 1 or max(started.values()) > 1]
    unended = [job for job in states if scenario.seconds == 0 and (states[job] != "succeeded" or starts[job] != 1)]
    wrong = f"lost {len(lost)}, made twice {unasked}, ended or started twice {len(twice)}"
    say(f"{len(outcome.accepted)} accepted, {len(states)} rows, {sum(starts.values())} programs started")
    say(f"{wrong}, not ended well {len(unended)}; {dict(Counter(states.values()))}")
    unruly = sum(number for status, number in outcome.refused.items() if status != "429")
    return len(lost) + unasked + len(twice) + len(unended) + unruly + outcome.unheeded


def _say_answers(outcome: Outcome, say: _Say) -> None:
    done = len(outcome.accepted)
    say(f"accepted {done} in {outcome.seconds:.0f} s ({done / outcome.seconds:.1f} a second)")
    say(f"other answers: {dict(outcome.refused) or 'none'}, 429 without Retry-After: {outcome.unheeded}")
    say(f"broken connections: {dict(outcome.silent) or 'none'}")
    say(f"accepted after {_shares(outcome.delays)}")
    if outcome.refusing:
        say(f"  counted from when they were to come again: {_shares(outcome.last_delays)}")
        waits = f"{percentile(outcome.waits, 0.5):.0f} s in the median, {max(outcome.waits):.0f} s at most"
        say(f"  told to come later after {_shares(outcome.refusing)}; Retry-After {waits}")


def _shares(values: Sequence[float]) -> str:
    shares = ((0.5, "median"), (0.95, "p95"), (0.99, "p99"), (1.0, "worst"))
    return ", ".join(f"{name} {1e3 * percentile(values, share):.0f} ms" for share, name in shares)


def _say_cost(used: Counter[str], outcome: Outcome, took: float, say: _Say) -> None:
    jobs = len(outcome.accepted)
    parts = ", ".join(f"{part} {1e3 * seconds / jobs:.1f}" for part, seconds in used.most_common())
    whole = 1e3 * sum(used.values()) / jobs
    say(f"processor time of each job: {whole:.1f} ms ({parts}); two cores carry {2000 / whole:.0f} jobs a second")
    share = outcome.busy / (took * (os.cpu_count() or 1))
    say(f"the client took {1e3 * outcome.busy / jobs:.1f} ms for each job, {100 * share:.0f} % of the machine")


def _compare(made: LoadPortal, used: Counter[str], outcome: Outcome, say: _Say) -> None:
    plain = plain_rows.write(made.ask(_URL), _PLAIN_JOBS)
    each = sum(used.values()) / len(outcome.accepted)
    # A delay counts from when people were to come again: how long they were told to stay away is the rule's choice.
    late = percentile(outcome.last_delays, 0.99) / plain.p99
    cost = f"{plain.rate:.0f} jobs a second, {1e3 * plain.busy:.1f} ms of processor each"
    say(f"the same rows in plain SQL from two processes: {cost}, p99 of a submission {1e3 * plain.p99:.0f} ms")
    say(f"the portal costs {each / plain.busy:.1f} times that, its p99 is {late:.1f} times that")


def _stop(signum: int, _: object) -> None:
    """What was started is ended on the way out."""
    sys.exit(128 + signum)


if __name__ == "__main__":
    for _signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(_signum, _stop)
    _given = [*sys.argv[1:], *("10", f"{RATE:g}", "var/bench-load.txt")[len(sys.argv) - 1 :]]
    sys.exit(main(float(_given[0]), float(_given[1]), Path(_given[2])))
