"""Reports over a range of time: who used what, how it went, against the time before; as page, CSV and PDF."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.contracts.models import Contract
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.reports.report_tabs import TABS
from scheduling.rescheduling.models import DecisionEvent
from scheduling.runs.models import Run
from scheduling.skeletons.core.trial_record import Outcome, Trial
from scheduling.skeletons.models import SkeletonRun
from scheduling.usage.models import UncountedJob
from scheduling.usage.ranges import Range
from scheduling.usage.services.counting_use import count_use
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words


@pytest.fixture
def ran(make_job: Any, people: Any) -> Any:
    """A job of two hours on two nodes, of somebody in the group astro, with a contract and a verified move."""
    people["user"].groups.add(Group.objects.create(name="astro"))
    job, now = make_job(people["user"], "succeeded"), timezone.now()
    Run.objects.filter(job=job).update(started_at=now - timedelta(hours=2), ended_at=now)
    monitor = {"actual": 7200.0, "predicted": 3600.0}
    Contract.objects.create(run=job.runs.get(), promised={"model": "m", "phases": []}, monitor=monitor)
    propose(job, state="verified", by="operator", outcome={"gain": 0.3, "saved": 1800.0, "took": 4000.0})
    return job


def table(client: Any, show: str, query: str = "") -> list[list[str]]:
    """The rows of all tables of a tab, as the links of its page lead to them, each with the name of its table first."""
    page = client.get(f"/reports/{show}/{query}").content.decode()
    rows = []
    for key in re.findall(rf'href="/reports/{show}/([-a-z_]+)[.]csv', page):
        answer = client.get(f"/reports/{show}/{key}.csv{query}")
        found = csv.reader(io.StringIO(b"".join(answer.streaming_content).decode()))
        rows += [[key, *row] for row in found]
    return rows


def starts(client: Any, show: str, cells: int = 6, query: str = "") -> list[list[str]]:
    """The first cells of each row: table, name, jobs, node-hours, percent, cpu-hours."""
    return [row[:cells] for row in table(client, show, query)]


def test_node_hours_by_user_group_and_day(client_as: Any, ran: Any) -> None:
    page = words(client_as("manager").get("/reports/people/"))
    assert "1 job of 1 person used 4.00 node-hours" in page
    rows = starts(client_as("manager"), "people")
    assert ["groups", "astro", "1", "4.0", "100.0", "4.0"] in rows
    assert ["people", "user", "1", "4.0", "100.0", "4.0"] in rows


def test_a_time_is_held_against_as_long_a_time_before(client_as: Any, ran: Any, make_job: Any, people: Any) -> None:
    earlier, end = make_job(people["other"], "succeeded"), timezone.now() - timedelta(days=40)
    Run.objects.filter(job=earlier).update(started_at=end - timedelta(hours=4), ended_at=end)
    Job.objects.filter(pk=earlier.pk).update(created_at=end - timedelta(hours=5), ended_at=end)
    page = words(client_as("manager").get("/reports/people/"))
    assert "4.00 node-hours after 8.00 in the time before: 50 % less." in page
    for show in ("people", "programs", "places", "waiting"):
        rows = starts(client_as("manager"), show, 5)
        assert ["compared", "Node-hours", "4.0", "8.0", "-50.0"] in rows, show
        assert ["compared", "Jobs", "1", "1", "0.0"] in rows


def test_every_tab_is_held_against_the_time_before(client_as: Any, ran: Any) -> None:
    for show in set(TABS) - {"network"}:  # no link has a figure
        assert any(row[0] == "compared" for row in table(client_as("manager"), show)), show
    assert "node-hours after 0.00 in the time before" in words(
        client_as("manager").get("/reports/skeletons/?since=30d")
    )
    assert 'id="compared"' in words(client_as("manager").get("/reports/skeletons/")), "the last 30 days are usual"


def test_without_anything_before_there_is_no_change_in_percent(client_as: Any, ran: Any) -> None:
    assert ["compared", "Node-hours", "4.0", "0.0", ""] in starts(client_as("manager"), "people", 5)
    assert "4.00 node-hours after 0.00 in the time before." in words(client_as("user").get("/reports/people/"))


def test_slowdown_and_moves_have_sentences_to_quote(client_as: Any, ran: Any) -> None:
    page = words(client_as("manager").get("/reports/slowdown/"))
    assert "0 of 1 run with a contract kept its promise, to within 10 %; it lost 2.00 node-hours" in page
    assert "62.4 % for the time to the end of a job that is moved, 1 move." in page
    page = words(client_as("manager").get("/reports/moves/"))
    assert "1 was right, 0 even and 0 wrong; together they ended jobs 30 min" in page
    assert "People chose" not in page


def test_overridden_moves_are_told_with_how_they_ended(client_as: Any, ran: Any, make_job: Any, people: Any) -> None:
    for gain, state in ((-0.3, "verified"), (0.4, "verified"), (0.1, "failed")):
        outcome = {"gain": gain, "saved": 1000.0 * gain, "took": 4000.0} if state == "verified" else {}
        decision = propose(make_job(people["user"], "succeeded"), state=state, by="operator", outcome=outcome)
        DecisionEvent.objects.create(decision=decision, from_state="proposed", to_state="overridden")
    page = words(client_as("manager").get("/reports/moves/"))
    assert "4 moves were weighed." in page
    assert "People chose other nodes or another count in 3 of them; of these 1 turned out right" in page
    assert "and brought 13.3 %." in page
    rows = table(client_as("manager"), "moves")
    assert ["moves", "verified", "3", "2"] in rows
    assert ["moves", "failed", "1", "1"] in rows
    assert ["moves", "wrong", "1", "1"] in rows
    assert ["moves", "time saved", "1900.0", "100.0"] in rows


def test_predictions_stand_beside_what_came(client_as: Any, ran: Any) -> None:
    placement, run = ran.placements.get(), ran.runs.get()
    Placement.objects.filter(pk=placement.pk).update(trial=Trial(outcome=Outcome(taken=1, by="skeleton")))
    for candidate, predicted in ((0, 9000.0), (1, 7600.0)):
        place = {"job": ran, "placement": placement, "candidate": candidate, "nodes": ["n1"], "key": f"t{candidate}"}
        SkeletonRun.objects.create(**place, run_dir="/r", script="", state="done", predicted=predicted)
    rows = [row for row in table(client_as("manager"), "slowdown") if row[0] == "predictions"]
    assert rows[1:] == [
        ["predictions", "the time of phases, by contracts", "1", "100.0", "0.0", "100.0"],
        ["predictions", "the time of the program on the group taken, by skeletons", "1", "5.26", "100.0", "0.0"],
        ["predictions", "the time to the end of a job that is moved", "1", "62.4", "0.0", "100.0"],
    ]
    Run.objects.filter(pk=run.pk).update(state="failed")
    rows = [row for row in table(client_as("manager"), "slowdown") if row[0] == "predictions"]
    assert [row[1] for row in rows[1:]] == ["the time to the end of a job that is moved"]


def test_by_application_size_cluster_site_and_node(client_as: Any, ran: Any) -> None:
    rows = starts(client_as("manager"), "programs")
    assert ["applications", "NAS EP", "1", "4.0", "100.0", "4.0"] in rows
    assert ["sizes", "2", "1", "4.0", "100.0", "4.0"] in rows
    rows = starts(client_as("manager"), "places", 5)
    assert ["clusters", "grid", "1", "4.0", "100.0"] in rows
    assert ["sites", "grid", "none", "1", "4.0"] in rows
    of_nodes = [row for row in rows if row[0] == "nodes"][1:]
    assert of_nodes == [["nodes", "grid", name, "1", "2.0"] for name in ("n1", "n2")]


def test_waiting_and_failures_have_their_reasons(client_as: Any, ran: Any, make_job: Any, people: Any) -> None:
    now = timezone.now()
    failed, why = make_job(people["other"], "failed"), Reason.of(Code.CANCELLED_BY, person="ada")
    Run.objects.filter(job=failed).update(started_at=now - timedelta(hours=2), ended_at=now)
    for job, hours in ((failed, 12), (ran, 3)):  # they waited ten hours, and one
        Job.objects.filter(pk=job.pk).update(created_at=now - timedelta(hours=hours), ended_at=now)
    Job.objects.filter(pk=failed.pk).update(reason=why)
    page = words(client_as("manager").get("/reports/waiting/"))
    assert "1 of 2 jobs failed, most for one reason: cancelled by (1)." in page
    assert "the median slowdown is 1.50" in page or "the median slowdown is 1.49" in page
    rows = starts(client_as("manager"), "waiting", 4)
    assert ["failures", "cancelled by", "1", "100.0"] in rows
    assert ["waiting", "up to 1 d", "1", "50.0"] in rows


def test_tables_sort_and_search_by_the_address_also_as_csv(
    client_as: Any, ran: Any, make_job: Any, people: Any
) -> None:
    make_job(people["other"], "succeeded")
    manager = client_as("manager")

    def names(query: str) -> list[str]:
        return [row[1] for row in table(manager, "people", query) if row[0] == "people"][1:]

    assert names("?sort=people:user") == ["other", "user"]
    assert names("?sort=-people:user") == ["user", "other"]
    assert names("?find=OTHER") == ["other"]
    page = words(manager.get("/reports/people/?sort=people:user&find=other&since=7d"))
    assert 'aria-sort="ascending"' in page
    assert 'value="other"' in page
    assert "No row of this table has" in words(manager.get("/reports/people/?find=zoe"))
    assert words(manager.get("/reports/skeletons/?sort=-node_hours")).count('aria-sort="descending"') == 1


def test_a_year_is_offered_and_a_long_time_is_in_whole_days(client_as: Any, ran: Any) -> None:
    page = words(client_as("manager").get("/reports/people/?since=365d"))
    assert "in whole days" in page
    assert "Submitted:" not in page
    assert "4.00 node-hours" in page
    assert "in whole days" not in words(client_as("manager").get("/reports/people/?since=24h"))


def test_people_see_their_own_use_alone(client_as: Any, ran: Any) -> None:
    assert "4.00 node-hours" in words(client_as("user").get("/reports/people/"))
    assert "No job ran in this time" in words(client_as("other").get("/reports/people/"))
    assert client_as("user").get("/reports/moves/").status_code == 403
    assert client_as("manager").get("/reports/nonsense/").status_code == 404
    for show in ("programs", "places", "waiting"):
        rows = [row for row in table(client_as("other"), show) if row[0] in ("applications", "nodes", "failures")]
        assert all(row[1] in ("application", "cluster", "reason") for row in rows), show


def test_the_pdf_is_one_of_several_sections(client_as: Any, ran: Any) -> None:
    answer = client_as("manager").get("/reports/report.pdf")
    assert answer["Content-Type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    assert len(answer.content) > 10_000
    one = client_as("manager").get("/reports/report.pdf?tab=moves").content
    assert one.startswith(b"%PDF-")
    assert len(one) < len(answer.content)


def test_time_for_which_a_job_was_held_back_is_no_waiting(client_as: Any, ran: Any) -> None:
    now = timezone.now()
    held = now - timedelta(hours=3)
    Job.objects.filter(pk=ran.pk).update(created_at=now - timedelta(hours=12), held_until=held, ended_at=now)
    Run.objects.filter(job=ran).update(started_at=now - timedelta(hours=2), ended_at=now)
    page = words(client_as("manager").get("/reports/waiting/"))
    assert "half waited 1 h" in page or "half waited 59 min" in page or "half waited 1 h 01 min" in page
    assert "1 job was held back for other jobs or a budget, 9 h on average." in page
    assert "the median slowdown is 1.50" in page or "the median slowdown is 1.49" in page


def test_comparisons_have_the_digits_and_units_that_count(client_as: Any, ran: Any, make_job: Any, people: Any) -> None:
    earlier, end = make_job(people["other"], "succeeded"), timezone.now() - timedelta(days=40)
    Run.objects.filter(job=earlier).update(started_at=end - timedelta(hours=5), ended_at=end)
    Job.objects.filter(pk=earlier.pk).update(created_at=end - timedelta(hours=6), ended_at=end)
    page = re.sub(r' data-label="[^"]*"', "", words(client_as("manager").get("/reports/people/")))
    assert '<td class="num">4.00</td> <td class="num">10.0</td> <td class="num">−60 %</td>' in page
    assert "Waiting, median</td>" in page
    assert "60.00" not in page.partition('id="time"')[0]
    assert ["compared", "Waiting, median, seconds"] in starts(client_as("manager"), "people", 2)


def test_a_page_reads_the_jobs_of_a_time_once(client_as: Any, ran: Any) -> None:
    with CaptureQueriesContext(connection) as captured:
        assert "4.00 node-hours" in words(client_as("user").get("/reports/people/"))
    of_jobs = [each["sql"] for each in captured.captured_queries if '"scheduling_job"."cpus_per_rank"' in each["sql"]]
    assert len(of_jobs) == 2, "of this time, and of the time before"


def test_files_are_called_by_what_is_in_them_and_of_what_time(client_as: Any, ran: Any) -> None:
    def name(path: str) -> str:
        return str(client_as("manager").get(path)["Content-Disposition"].partition('filename="')[2].rstrip('"'))

    november = "start=2025-11-01&until=2025-12-01T00:00"
    assert name(f"/reports/people/people.csv?{november}") == "usage-by-person-people-2025-11-01-to-2025-11-30.csv"
    assert name(f"/reports/report.pdf?tab=network&{november}") == "links-2025-11-01-to-2025-11-30.pdf"
    assert name(f"/reports/report.pdf?{november}") == "usage-report-2025-11-01-to-2025-11-30.pdf"
    hours = "start=2025-11-01T05:00&until=2025-11-01T17:00"
    assert (
        name(f"/reports/waiting/waiting.csv?{hours}")
        == "waiting-and-failures-waiting-2025-11-01-0500-to-2025-11-01-1700.csv"
    )
    assert name(f"/reports/use.csv?{november}") == "skeletons-2025-11-01-to-2025-11-30.csv"
    assert name("/reports/use.csv").startswith("skeletons-20"), "of the last 30 days"


def test_a_short_time_is_drawn_by_the_hour(people: Any, ran: Any) -> None:
    until = timezone.now()
    (chart,) = [
        section.chart
        for section in TABS["people"].sections(people["manager"], Range(until - timedelta(hours=24), until))
        if section.key == "time"
    ]
    assert chart is not None
    assert chart.label == "Node-hours in each hour"
    assert len(set(chart.names)) == len(chart.names) in (24, 25)
    assert sum(chart.values) == pytest.approx(4.0, abs=0.01)
    assert max(chart.values) <= 2.0
    assert all(len(name) == len("11-26 05:00") for name in chart.short_names)


def test_a_document_of_all_tabs_reads_each_sum_once(client_as: Any, ran: Any) -> None:
    with CaptureQueriesContext(connection) as captured:
        client_as("manager").get("/reports/report.pdf?since=30d")
    of_sums = [each["sql"] for each in captured.captured_queries if "all_node_time" in each["sql"]]
    assert len(of_sums) == len(set(of_sums))
    assert len(of_sums) <= 9


def findings(manager: Any, show: str) -> dict[str, str]:
    until = timezone.now() + timedelta(minutes=1)
    return {each.key: each.finding for each in TABS[show].sections(manager, Range(until - timedelta(days=30), until))}


def test_what_was_brought_is_told_with_its_error_and_the_jobs_behind_it(people: Any, ran: Any) -> None:
    placement = Placement.objects.filter(pk=ran.placements.get().pk)
    placement.update(trial=Trial(outcome=Outcome(taken=1, by="skeleton", spent=90.0, won=600.0)))
    found = findings(people["manager"], "slowdown")
    assert found["slowdown"] == (
        "0 of 1 run with a contract kept its promise, to within 10 %; it lost 2.00 node-hours; promises were off by "
        "100 % in the median (1 run judged). Choosing by trials avoided 0.33 node-hours (1 job); moves avoided 1.00 "
        "node-hours (1 move), such predictions were off by 62.4 % in the median (1 move judged)."
    )
    assert found["trials"] == (
        "Trying the groups of 1 job took 1 min 30 s; the group that was taken is predicted to save 10 min. "
        "No run shows yet how far such predictions are off."
    )
    placement.update(trial=Trial(outcome=Outcome(taken=1, by="skeleton", spent=90.0, won=None)))
    assert "nobody knows what was won" in findings(people["manager"], "slowdown")["trials"]


def test_where_nothing_is_known_a_report_says_why_and_what_to_do(people: Any, db: Any) -> None:
    found = findings(people["manager"], "slowdown")
    assert "A run gets one when its program reports its phases" in found["slowdown"]
    assert "record a run on its Profile page" in found["trials"]
    assert "judged when their jobs have ended well" in found["predictions"]
    assert "can be stopped with a checkpoint" in findings(people["manager"], "moves")["moves"]
    assert "The page Telemetry says" in findings(people["manager"], "network")["links"]
    assert "on the page of a project" in findings(people["manager"], "budgets")["budgets"]
    assert "a longer one can be chosen" in findings(people["manager"], "people")["time"]
    assert findings(people["manager"], "waiting")["failures"] == "No job ended in this time."


def test_a_promise_that_is_missed_by_noise_is_kept_and_what_it_lost_is_counted(
    people: Any, ran: Any, make_job: Any
) -> None:
    now = timezone.now()
    for actual in (3600.0 * 1.1, 3500.0, 3600.0 * 1.2):  # two nodes each: 0.2 node-hours late, early, 0.4 late
        run = make_job(people["user"], "succeeded").runs.get()
        Run.objects.filter(pk=run.pk).update(started_at=now - timedelta(hours=1), ended_at=now)
        monitor = {"actual": actual, "predicted": 3600.0}
        Contract.objects.create(run=run, promised={"model": "m", "phases": []}, monitor=monitor)
    found = findings(people["manager"], "slowdown")["slowdown"]
    assert "2 of 4 runs with a contract kept their promise, to within 10 %; the other 2 lost 2.40 node-hours." in found
    assert " 1 of the 2 that kept it took up to 10 % longer than promised and lost 0.20 node-hours" in found


def test_a_time_longer_than_a_year_is_shown_by_month_and_says_so(
    client_as: Any, ran: Any, make_job: Any, people: Any
) -> None:
    old, end = make_job(people["other"], "succeeded"), timezone.now() - timedelta(days=800)
    Run.objects.filter(job=old).update(started_at=end - timedelta(hours=4), ended_at=end)
    Job.objects.filter(pk=old.pk).update(created_at=end - timedelta(hours=5), ended_at=end)
    begin = timezone.now() - timedelta(days=900)
    count_use()
    query = f"?start={begin:%Y-%m-%dT%H:%M}"
    page = words(client_as("manager").get(f"/reports/people/{query}"))
    assert "Longer than a year, so it is shown by month, not by day." in page
    assert "2 jobs of 2 people used 12.0" in page
    assert f"most in {end:%B %Y}: 8.00" in page
    for who, node_hours in (("manager", "8.0"), ("other", "8.0")):
        rows = [row[:4] for row in table(client_as(who), "people", query) if row[0] == "time"]
        assert rows[0][1] == "month"
        assert rows[-1] == ["time", f"{end:%Y-%m}", "1", node_hours], "the newest month comes first"
    span = Range(begin, timezone.now()).in_days(timezone.now())
    (chart,) = [each.chart for each in TABS["people"].sections(people["manager"], span) if each.key == "time"]
    assert chart is not None
    assert (chart.label, len(chart.names)) == ("Node-hours a month", len(set(chart.names)))
    assert sum(chart.values) == pytest.approx(12.0, abs=0.01)
    assert "is left out" in words(client_as("manager").get("/reports/people/?start=2001-01-01T00:00"))
    assert "shown by month" not in words(client_as("manager").get("/reports/people/?since=365d"))


@pytest.mark.parametrize("counted_days_ago", [0, 1])
def test_jobs_cancelled_before_they_started_are_told_and_in_no_figure(
    client_as: Any, ran: Any, make_job: Any, people: Any, counted_days_ago: int
) -> None:
    """From the jobs themselves, and from sums."""
    ended = timezone.now() - timedelta(days=counted_days_ago)
    before = {show: table(client_as("manager"), show) for show in ("people", "programs", "places", "waiting")}
    early = make_job(people["other"], "cancelled")
    early.runs.all().delete()
    Job.objects.filter(pk=early.pk).update(created_at=ended - timedelta(hours=9), ended_at=ended)
    count_use()
    assert UncountedJob.objects.filter(job=early).exists() is (counted_days_ago == 0)
    for show, rows in before.items():
        assert table(client_as("manager"), show) == rows, show
        page = words(client_as("manager").get(f"/reports/{show}/"))
        assert "1 job was cancelled before it started; it is in no figure of this page." in page
    assert "1 job was cancelled before it started" in words(client_as("other").get("/reports/people/"))
    assert "before it started" not in words(client_as("user").get("/reports/people/"))
    assert "No job ended" not in words(client_as("manager").get("/reports/waiting/"))


def test_chosen_nodes_are_held_against_random_ones_under_the_same_conditions_alone(
    people: Any, ran: Any, make_job: Any
) -> None:
    now = timezone.now() - timedelta(minutes=1)

    def took(seconds: float, **given: Any) -> None:
        job = make_job(people["user"], "succeeded", **given)
        Job.objects.filter(pk=job.pk).update(started_at=now - timedelta(seconds=seconds), ended_at=now)

    Job.objects.filter(pk=ran.pk).update(started_at=now - timedelta(hours=2), ended_at=now)
    assert "can be held against one on random nodes" in findings(people["manager"], "slowdown")["random"]
    for method, seconds in (("pattern", 60.0), ("pattern", 64.0), ("random", 100.0)):
        took(seconds, method=method, node_count=4)
    took(5.0, method="random", node_count=8)  # nothing beside it
    took(1.0, method="pattern", node_count=4, parameters={"klass": "W"})
    took(1.0, method="random", node_count=4, cluster="hpc")
    found = findings(people["manager"], "slowdown")["random"]
    assert found == (
        "The same jobs took 38 % less time on chosen nodes than on random ones in the median (1 sort of job; 2 jobs on "
        "chosen nodes, 1 on random ones)."
    )
    for nodes, seconds in ((1, 100.0), (3, 15.0), (5, 50.0)):
        took(seconds, method="pattern", node_count=nodes)
        took(50.0, method="random", node_count=nodes)
    found = findings(people["manager"], "slowdown")["random"]
    assert "took 19 % less time" in found
    assert "The middle half of the sorts took from 25 % more time to 46 % less time." in found
