"""LAMMPS and cp.x stop by their own means and go on on fewer ranks, on nodes that are named; their energies go on as if
never stopped.

On both backends at once, for most of the time is spent waiting; `make test` has one of them. LAMMPS: another number of
ranks adds forces up in another order, and a melt of atoms doubles such a difference every few steps: the total energy,
which no order changes, agrees to 5e-3 of itself. cp.x: its damped dynamics forget such differences, so that the energy
agrees to 1e-8 Ha (of 31) at each step.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.applications.conftest import example, need, slurm_is_missing
from tests.scheduling.portal import Portal

pytestmark = pytest.mark.grid
CP_STEPS, WHOLE_STEPS, MELT_STEPS = 90, 4000, 1_000_000
PATIENCE = 150.0
#: What cp.x says when it begins.
CP_BEGINS = "Program CP "


def clusters(first: str) -> pytest.MarkDecorator:
    """The names of both backends; in `make test` of this one."""
    both = pytest.param(["grid", "slurm"], id="both", marks=pytest.mark.slow)
    return pytest.mark.parametrize("names", [pytest.param([first], id=first), both])


@pytest.fixture(autouse=True)
def need_clusters(names: list[str]) -> None:
    if "slurm" in names and (why := slurm_is_missing()):
        pytest.skip(why)


def stopped_and_gone_on(
    portal: Portal,
    names: list[str],
    fields: dict[str, Any],
    begun: str,
    enough: str,
    steps: tuple[int, int],
    **parameters: int,
) -> tuple[list[str], dict[str, list[str]]]:
    """The logs of the runs of a job that nobody asks for anything, on one rank, with the first number of `steps`; and
    by backend those of jobs with the second that are stopped on four ranks, once their log has `begun`, go on on three
    of their nodes in turned order, and are cancelled once the log of that run has `enough`, if it does not come to its
    end.

    All in one process, for to start one takes longer than most of what is waited for.
    """
    found = portal.run(f"""
        import re
        from pathlib import Path
        from scheduling.checkpoints.services.requesting import stop_and_continue

        def submit(fields, cluster, ranks, steps):
            made = registering.register_application("tests", fields | {{"name": fields["slug"]}})
            given = {{**{parameters!r}, "steps": steps}}
            asked = job_spec.JobSpec(made, given, ranks, cluster=cluster, method="random", seed=5)
            return submission.submit_job(User.objects.get(username="ada"), asked)

        def log(run):
            file = Path(run.run_dir, "output.log")
            return file.read_text(errors="replace") if file.exists() else ""

        def tick(condition):
            for _ in looks({PATIENCE}):
                if condition():
                    return
                tasks.advance_jobs()
                for name in {{"grid", *names}}:  # workers would follow each cluster in a task of its own
                    tasks.poll_runs(name)
            raise AssertionError([(job.state, message(job.reason)) for job in Job.objects.all()])

        fields, names = {fields!r}, {names!r}
        unasked = {{name: value for name, value in fields["stop_means"].items() if name != "every"}}
        whole = {{**fields, "slug": fields["slug"] + "-whole", "stop_means": unasked}}
        whole = submit(whole, "grid", 1, {steps[0]})
        slugs = {{name: fields["slug"] + "-" + name for name in names}}
        jobs = {{name: submit({{**fields, "slug": slugs[name]}}, name, 4, {steps[1]}) for name in names}}
        waiting, named = dict(jobs), {{}}

        def all_asked():
            for name, job in list(waiting.items()):
                job.refresh_from_db()
                if job.state == "running" and re.search({begun!r}, log(job.runs.get())):
                    named[name] = job.runs.get().placement.nodes[:0:-1]
                    stop_and_continue(job, by=User.objects.get(username="ada"), nodes=named[name], ranks=3)
                    del waiting[name]
            return not waiting

        tick(all_asked)
        ids = [job.pk for job in (whole, *jobs.values())]

        def all_over():
            for job in jobs.values():
                job.refresh_from_db()
                run = job.runs.order_by("-number")[0]
                if job.state == "running" and run.number == 2 and {enough!r} and re.search({enough!r}, log(run)):
                    submission.cancel_job(User.objects.get(username="ada"), job)
            return all(job.is_final for job in Job.objects.filter(pk__in=ids))

        tick(all_over)
        runs = {{name: list(job.runs.order_by("number")) for name, job in jobs.items()}}
        print(json.dumps({{
            "whole": [log(run) for run in whole.runs.all()],
            "states": {{name: [run.state for run in each] for name, each in runs.items()}},
            "nodes": {{name: [run.placement.nodes for run in each] for name, each in runs.items()}}, "named": named,
            "said": [message(e.reason) for job in jobs.values() for e in job.events.all()],
            "logs": {{name: [log(run) for run in each] for name, each in runs.items()}},
        }}))
    """)
    logs: dict[str, list[str]] = found["logs"]
    for name in names:
        assert found["states"][name] == ["checkpointed", "cancelled" if enough else "succeeded"], (found["said"], logs)
        before, after = found["nodes"][name]
        assert (len(before), after) == (4, found["named"][name])
    return found["whole"], logs


def energies(text: str, column: int) -> dict[int, float]:
    """By step, of a table of numbers."""
    found = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) > column and re.fullmatch(r"\d+", parts[0]) and re.fullmatch(r"-\d+\.\d+", parts[column]):
            found[int(parts[0])] = float(parts[column])
    return found


@clusters("slurm")
def test_lammps_goes_on_elsewhere_on_fewer_ranks(portal: Portal, names: list[str]) -> None:
    need("lmp", "mpirun.openmpi")
    fields, rows = example("lammps-restart.json"), r"(?:\n +\d+ +[\d.]+ +\d\.\d+ +-\d.*){3}"
    (whole,), logs = stopped_and_gone_on(portal, names, fields, r"\n +50 ", rows, (WHOLE_STEPS, MELT_STEPS), cells=4)
    expected = energies(whole, 4)
    for first, second in logs.values():
        before, after = energies(first, 4), energies(second, 4)
        assert 0 < max(before) <= min(after) <= max(before) + 50 < max(after)
        for step in (before.keys() | after.keys()) & expected.keys():
            assert {**before, **after}[step] == pytest.approx(expected[step], rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("names", [["grid", "slurm"]], ids=["both"])
def test_cp_x_leaves_files_now_and_then_and_goes_on_elsewhere_on_fewer_ranks(portal: Portal, names: list[str]) -> None:
    """It is asked for files every three seconds; it is stopped once it has gone on from one within its run."""
    need("cp.x", "mpirun.openmpi")
    fields = example("cp-silicon.json")
    fields["stop_means"] |= {"every": 3}
    again = rf"(?s)({CP_BEGINS}.*){{2}}\n +\d+ +\d+\.\d"
    (whole,), logs = stopped_and_gone_on(portal, names, fields, again, "", (CP_STEPS, CP_STEPS))
    expected = energies(whole, 4)
    assert len(expected) == CP_STEPS
    for first, second in logs.values():
        before, after = energies(first, 4), energies(second, 4)
        assert max(before) < CP_STEPS
        assert (min(after), max(after)) == (max(before) + 1, CP_STEPS)
        for step, energy in {**before, **after}.items():
            assert energy == pytest.approx(expected[step], abs=1e-8), step


@clusters("grid")
def test_lammps_leaves_files_now_and_then_and_stops_before_its_time_limit(portal: Portal, names: list[str]) -> None:
    """Its script asks it for a file every three seconds, and to stop ten seconds and `seconds` before its end."""
    need("lmp", "mpirun.openmpi")
    fields = example("lammps-restart.json")
    fields["stop_means"] |= {"seconds": 30, "every": 3}
    story = portal.run(f"""
        from scheduling.runs.services import job_folder
        names, jobs = {names!r}, []
        for name in names:
            named = {{"slug": "lammps-limit-" + name, "name": name}}
            made = registering.register_application("tests", {fields!r} | named)
            asked = job_spec.JobSpec(made, {{"cells": 4, "steps": {MELT_STEPS}}}, 2, cluster=name, method="random")
            asked = asked.with_changes({{"time_limit": 60}})
            jobs.append(submission.submit_job(User.objects.get(username="ada"), asked))
        for _ in looks({PATIENCE}):
            tasks.advance_jobs()
            for name in names:
                tasks.poll_runs(name)
            for job in jobs:
                job.refresh_from_db()
            if all(job.state in ("stopped", "failed", "succeeded") for job in jobs):
                break
        print(json.dumps([[job.cluster, job.state, message(job.reason),
            [file.name for file in job_folder.checkpoints(job).glob("melt.*.restart")],
            [run.state for run in job.runs.all()]] for job in jobs]))
    """)
    for cluster, state, reason, files, runs in story:
        assert (state, runs) == ("stopped", ["checkpointed"]), (cluster, reason)
        assert len(files) >= 2, (cluster, reason, files)  # one when it was asked for, one when it stopped
        assert "let it go on from there, or cancel it." in reason
