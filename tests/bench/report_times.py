"""How long the tabs of the usage report take after a year read from a log: `python -m tests.bench.report_times JOBS`.

With a DATABASE_URL on PostgreSQL, else on SQLite. A database that has jobs already is measured as it is; with a second
word, `fill`, it is filled and not measured, which may be done beside other work. Prints for each tab, range and kind
(page, CSV) the queries, the processor's milliseconds, and how many times an empty page they are; the first answers of
processes that have just started; and statements that read a table from end to end.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import django

from tests.bench.first_answers import first_answer
from tests.bench.page_times import _line, _say, measure
from tests.bench.whole_reads import whole_reads

_DAYS = 365
#: The first table of the tabs that have none of their own name.
_TABLES = {"programs": "applications", "places": "clusters", "network": "links"}


def main(jobs: int, *, measured: bool = True) -> None:
    """Read the year where there are no jobs yet, then look at every tab."""
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from scheduling.contracts.models import Contract
    from scheduling.jobs.models import Job
    from scheduling.usage.services.counting_use import count_use
    from tests.bench.brought import write_brought

    call_command("migrate", verbosity=0)
    if not Job.objects.exists():
        _read_year(jobs)
    if not Contract.objects.exists():
        write_brought()
    begin = time.perf_counter()
    _say(f"{count_use()} jobs counted in {time.perf_counter() - begin:.0f} s")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    if measured:
        _measure_tabs()


def _measure_tabs() -> None:
    who = _busiest()
    import gridportal.urls  # noqa: F401  # a web server has answered for its health before people come

    _say("first answers after a start, ms")
    for name, path in _of_a_year(who):
        _say(f"{name:9} {first_answer(name, path):7.1f}  {path}")
    empty = measure("manager", "/help/")
    _say("who        busy ms   ratio  median   worst queries  path")
    for path in ("/help/", *_tabs(), *_others()):
        _say(_line(measure("manager", path), empty))
    for path in _own_tabs():
        _say(_line(measure(who, path), empty))
    _say("statements that read a table from end to end")
    for name, path in _of_a_year(who):
        for found in whole_reads(name, path):
            _say(f"{name:9} {path}  {found}")


def _read_year(jobs: int) -> None:
    from django.contrib.auth.models import Group

    from gridportal.accounts.models import User
    from scheduling.jobs.models import Job
    from scheduling.jobs.project_models import Project
    from scheduling.workload_logs.core.synthetic_log import LogSize, synthetic_lines
    from scheduling.workload_logs.services.reading_logs import read_log

    User.objects.create(username="manager").groups.add(Group.objects.get_or_create(name="manager")[0])
    start = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=_DAYS)
    begin = time.perf_counter()
    found = read_log(synthetic_lines(LogSize(jobs), 1, int(start.timestamp())), "year")
    _say(f"{found.jobs} jobs read in {time.perf_counter() - begin:.0f} s")
    projects = [Project.objects.create(name=f"project{number}") for number in range(20)]
    for place, project in enumerate(projects):  # the owners of a project are those whose key it divides
        owners = [pk for pk in User.objects.values_list("pk", flat=True) if pk % len(projects) == place]
        Job.objects.filter(owner__in=owners).update(project=project)
    _give_budgets(projects, start)


def _give_budgets(projects: list[object], start: datetime) -> None:
    from scheduling.projects.models import Budget

    days = {"begins": start.date(), "ends": start.date() + timedelta(days=400)}
    Budget.objects.bulk_create([Budget(project=project, node_hours=1e5, **days) for project in projects])


def _tabs() -> Iterator[str]:
    from scheduling.reports.report_tabs import TABS

    middle = datetime.now(UTC) - timedelta(days=190)
    ranges = [{"since": since} for since in ("24h", "30d", "365d")]
    ranges += [{"start": f"{middle - timedelta(days=160):%Y-%m-%dT%H:%M}", "until": f"{middle:%Y-%m-%dT%H:%M}"}]
    for tab in TABS:
        yield from (f"/reports/{tab}/?{urlencode(asked)}" for asked in ranges)
        yield f"/reports/{tab}/{_TABLES.get(tab, tab)}.csv?since=365d"


def _of_a_year(who: str) -> Iterator[tuple[str, str]]:
    """All tabs of a year, as the manager and as a plain user."""
    from scheduling.reports.report_tabs import TABS

    for name, tab in TABS.items():
        yield from ((each, f"/reports/{name}/?since=365d") for each in ("manager", who) if tab.is_own or each != who)
    yield "manager", "/reports/report.pdf?since=365d"


def _busiest() -> str:
    """Who has most jobs, as somebody who may sign in."""
    from django.db.models import Count

    from gridportal.accounts.models import User

    person = User.objects.annotate(count=Count("jobs")).order_by("-count").first()
    assert person is not None
    _say(f"{person.username} has {person.count} jobs")
    User.objects.filter(pk=person.pk).update(is_active=True)
    return person.username


def _own_tabs() -> Iterator[str]:
    from scheduling.reports.report_tabs import TABS

    for name, tab in TABS.items():
        if tab.is_own:
            yield from (f"/reports/{name}/?since={since}" for since in ("24h", "30d", "365d"))
    yield "/reports/report.pdf?since=30d"
    yield "/reports/report.pdf?since=365d"


def _others() -> Iterator[str]:
    yield from (
        "/reports/skeletons/",
        "/reports/skeletons/?since=30d",
        "/reports/report.pdf?since=365d",
        "/projects/",
        "/projects/project1/",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), measured="fill" not in sys.argv[2:])
