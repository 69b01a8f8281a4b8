"""Two facts of a job never have one name on its page, and two ranks are not "all"."""

from __future__ import annotations

from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.pages.comparison import ComparedRun, comparison
from scheduling.pages.job_summary import asked_rows
from scheduling.profiles.charts import picture


def test_the_seed_of_a_program_is_not_that_of_the_selection(make_job, people):
    job = make_job(people["user"], "queued", parameters={"class": "S", "seed": 7}, seed=3)
    found = dict(asked_rows(job, names_files=True))
    assert (found["seed"], found["seed of the selection"]) == ("7", "3")
    plain = make_job(people["user"], "queued", parameters={"class": "S"}, seed=3)
    assert dict(asked_rows(plain, names_files=True))["seed"] == "3"


def test_ranks_have_their_marks_and_a_limit_is_a_time(make_job, people):
    job = make_job(people["user"], "queued", time_limit=61012, node_count=1500, ranks=1500)
    found = dict(asked_rows(job, names_files=True))
    assert (found["ranks"], found["time limit"]) == ("1,500", "16 h 56 min")


def test_two_ranks_on_one_node_are_both_there():
    sentences = [picture.finding(CandidateGroup(("n1",) * ranks), {}) for ranks in (2, 3)]
    assert sentences == [
        "Both ranks are on n1: no link can slow this job.",
        "All 3 ranks are on n1: no link can slow this job.",
    ]


def test_each_of_several_input_files_is_headed_by_its_name(make_job, people):
    files = [{"name": name, "size": 2048, "digest": "0" * 64} for name in ("mesh.dat", "waves, 2.dat")]
    job = make_job(people["user"], "queued", inputs=files)
    parts = comparison([ComparedRun.of(job, None)], names_files=True)
    found = [row.name for part in parts for row in part.rows if row.name.startswith("input")]
    assert found == ["input file mesh.dat", "input file waves, 2.dat"]


def test_a_check_is_none_of_the_program_s_own_only_once_it_has_ended(make_job, people):
    checks = {}
    for state in ("running", "succeeded"):
        job = make_job(people["user"], state)
        run = job.runs.get()
        run.verified = None
        parts = comparison([ComparedRun.of(job, run)], names_files=True)
        checks[state] = {row.name: row.values for part in parts for row in part.rows}.get("check")
    assert checks == {"running": None, "succeeded": ("none of its own",)}
