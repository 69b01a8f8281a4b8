"""How long the portal's pages take after a busy year: `python -m tests.bench.page_times JOBS` with a DATABASE_URL.

Every page is asked for in this process, through all middleware and with its template. Printed are the processor time
that one answer costs portal and database together, which other work on the machine hardly changes, and the time that
it takes by the clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import urlencode

import django

TIMES = 10
MOST_MS = 100.0


class Timing(NamedTuple):
    """One page of one person; milliseconds of TIMES answers. `busy`: the processor's, of portal and database."""

    who: str
    path: str
    queries: int
    busy: float
    median: float
    worst: float


def set_up(jobs: int) -> None:
    """Django with the database of this environment, migrated and filled where it is still empty."""
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from scheduling.jobs.models import Job
    from scheduling.usage.services.counting_use import count_use
    from tests.bench.year import write_year

    call_command("migrate", verbosity=0)
    if connection.vendor == "postgresql":  # the time of other processes would be counted nowhere
        with connection.cursor() as cursor:
            cursor.execute("ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather = 0")
        connection.close()
    if not Job.objects.exists():
        begin = time.perf_counter()
        write_year(jobs)
        count_use()  # as the worker does every few minutes
        _say(f"{jobs} jobs written in {time.perf_counter() - begin:.0f} s")


def main(jobs: int, chosen: str = "") -> None:
    """Print the table; only pages whose path has `chosen` in it."""
    set_up(jobs)
    empty = measure("operator", "/help/")
    _say(f"{'who':9} {'busy':>7} {'x empty':>7} {'median':>7} {'worst':>7} {'queries':>7}  page; milliseconds")
    _say(_line(empty, empty) + " (the portal's frame alone)")
    found = list(_measured(pages(), chosen, empty))
    _say("With a name of its own for each job that has one:")
    name_each()
    found += _measured(searches(), chosen, empty)
    slow = [timing for timing in found if timing.busy > MOST_MS]
    _say(f"{len(found)} pages, {len(slow)} of them cost more than {MOST_MS:.0f} ms.")


def _measured(asked: Iterable[tuple[str, str]], chosen: str, empty: Timing) -> Iterator[Timing]:
    for who, path in asked:
        if chosen in path:
            timing = measure(who, path)
            _say(_line(timing, empty))
            yield timing


def _line(timing: Timing, empty: Timing) -> str:
    times = f"{timing.busy:7.1f} {timing.busy / empty.busy:7.1f} {timing.median:7.1f} {timing.worst:7.1f}"
    return f"{timing.who:9} {times} {timing.queries:7}  {timing.path}"


def measure(who: str, path: str) -> Timing:
    """Ask for a page once to warm up, then TIMES times."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from gridportal.accounts.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username=who), backend="django.contrib.auth.backends.ModelBackend")
    with CaptureQueriesContext(connection) as captured:
        status = client.get(path).status_code
    queries = len(captured)
    if status != 200:
        raise RuntimeError(f"{path} answers {who} with {status}")
    took, before = [], _busy()
    for _ in range(TIMES):
        begin = time.perf_counter()
        client.get(path)
        took.append(1e3 * (time.perf_counter() - begin))
    return Timing(who, path, queries, 1e3 * (_busy() - before) / TIMES, median(took), max(took))


def _busy() -> float:
    """Processor seconds that this process and its process of PostgreSQL have used so far."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return time.process_time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = Path(f"/proc/{cursor.fetchone()[0]}/schedstat").read_text(encoding="ascii")
    return time.process_time() + int(server.split()[0]) / 1e9


def name_each() -> None:
    """Give every job that has a name one that no other has, and leave the table as if they had been written so."""
    from django.db import connection
    from django.db.models import CharField, F, Value
    from django.db.models.functions import Cast, Concat

    from scheduling.models import Job

    Job.objects.exclude(name="").update(name=Concat("name", Value(" "), Cast(F("pk"), CharField())))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM (FULL, ANALYZE) scheduling_job")
            cursor.execute("VACUUM (ANALYZE, FREEZE) scheduling_job")
        else:
            cursor.execute("ANALYZE")


def searches() -> Iterator[tuple[str, str]]:
    """Who looks for which words: some that few jobs have, some that a seventh, two sevenths or all have."""
    for words in ("12345", "person7", "no such thing", "nightly", "sweep", "sweep failed", "er"):
        yield "operator", _address("/jobs/", q=words)
    for who, sort in (("busy", ""), ("operator", "application"), ("operator", "name"), ("operator", "-submitted")):
        yield from ((who, _address("/jobs/", q="sweep", sort=sort, page=page)) for page in ("", 80))
    yield "operator", _address("/api/jobs", q="sweep")


def pages() -> Iterator[tuple[str, str]]:
    """Who asks for what."""
    for who in ("rare", "busy", "operator", "manager"):
        for path in _lists(who):
            yield who, path
    yield from (("operator", path) for path in _audit())
    for number in _some_jobs():
        yield from (("operator", f"/jobs/{number}/{part}") for part in ("", "live", "log/tail", "script"))
        yield from (("operator", f"/api/jobs/{number}{part}") for part in ("", "/events"))
    yield from (("operator", f"/api/jobs/{_some_jobs()[0]}/{part}") for part in ("phases", "placement"))
    yield from (
        ("operator", path) for path in ("/applications/", "/applications/nas-ep/", "/applications/nas-ep/profile")
    )
    yield from (("busy", path) for path in ("/applications/", "/applications/nas-ep/", "/submit/", "/account/"))
    yield "operator", "/experiments/"


def _lists(who: str) -> Iterator[str]:
    last = _last_page(who)
    yield from (_address("/jobs/", page=page) for page in ("", max(1, last // 2), last))
    for sort in ("id", "name", "application", "owner", "state", "nodes", "submitted"):
        for sign in ("", "-"):
            yield from (_address("/jobs/", sort=sign + sort, page=page) for page in ("", max(1, last // 2), last))
    yield from (_address("/jobs/", **one) for one in _filters())
    yield from (_address("/reports/skeletons/", since=since) for since in ("", "15m", "1h", "24h", "7d", "30d"))
    yield from (_address("/reports/skeletons/", **one) for one in _reports())
    yield _address("/api/jobs")
    yield _address("/api/jobs", limit=50, offset=50 * (last - 1))
    yield _address("/api/jobs", limit=500, ordering="-name")


def _reports() -> Iterator[dict[str, str]]:
    yield from ({"owner": "busy", "since": since} for since in ("", "30d"))
    yield {"application": "nas-ep"}
    yield from ({"state": state} for state in ("succeeded", "failed", "active"))
    yield from ({"method": name} for name in ("pattern", "random"))
    yield {"state": "succeeded", "method": "pattern"}
    yield {"state": "succeeded", "owner": "busy"}
    yield {"method": "pattern", "since": "30d"}


def _filters() -> Iterator[dict[str, str]]:
    yield from ({"q": words} for words in ("sweep", "12345", "person7", "failed", "no such thing", "sweep failed"))
    yield from ({"state": state} for state in ("active", "succeeded", "failed", "waiting", "trial"))
    yield from ({"application": slug} for slug in ("nas-ep", "nas-cg"))
    yield from ({"owner": name} for name in ("busy", "rare", "nobody"))
    yield from ({"method": name} for name in ("pattern", "random"))
    yield from ({"since": since} for since in ("15m", "24h", "30d"))
    yield {"start": "2026-03-01T00:00:00", "until": "2026-03-02T00:00:00"}
    yield {"state": "failed", "application": "nas-ep", "sort": "-nodes"}
    yield {"application": "nas-ep", "page": "100"}
    yield from ({"state": "failed", "sort": sort} for sort in ("ranks", "-running", "check", "-chosen"))


def _audit() -> Iterator[str]:
    from gridportal.accounts.models import AuditEvent

    last = -(-AuditEvent.objects.count() // 50)
    yield from (_address("/audit/", page=page) for page in ("", last // 2, last))
    yield from (_address("/audit/", action=action) for action in ("job", "job.submit", "job.cancel", "token"))
    yield from (_address("/audit/", actor=name) for name in ("busy", "rare", "person1", "nobody"))
    yield from (_address("/audit/", object=words) for words in ("job:12345", "job 1234", "nothing"))
    yield _address("/audit/", since="2026-03-01T00:00:00", until="2026-03-02T00:00:00")
    yield _address("/audit/", action="job.cancel", actor="busy", page=3)
    yield _address("/api/audit")


def _some_jobs() -> list[int]:
    from scheduling.jobs.models import Job

    return [Job.objects.filter(state=state).values_list("pk", flat=True)[0] for state in ("succeeded", "waiting")]


def _last_page(who: str) -> int:
    from scheduling.jobs.models import Job

    jobs = Job.objects.all() if who in ("operator", "manager") else Job.objects.filter(owner__username=who)
    return -(-jobs.count() // 50)


def _address(path: str, **query: object) -> str:
    given = {name: value for name, value in query.items() if value != ""}
    return f"{path}?{urlencode(given)}" if given else path


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:3])
