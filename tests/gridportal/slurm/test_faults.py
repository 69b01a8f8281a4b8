"""A real Slurm whose answers are late, garbled or lost, whose munge is down and whose disks are full.

The channel is spoiled by command prefixes, the disks are real and small. The portal shows each fault, hangs in none,
and loses and doubles nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from gridportal.base import processes as shell
from tests.gridportal.slurm.world import RUNS, SitePortal, World, missing

pytestmark = [pytest.mark.grid, pytest.mark.slurm]

TINY = "/srv/shared/tiny"
STATE = "/etc/slurm/state"
#: Every command through here does what the file says: late before, late after (the deed is done), or garbage.
SPOILER = f"""\
#!/bin/bash
[[ " $* " != *" ping"* ]] || exec "$@"
case $(cat {RUNS}/spoil 2>/dev/null) in
  before) sleep 30; exec "$@" ;;
  after) "$@"; sleep 30 ;;
  garbage) "$@" >/dev/null 2>&1; head -c 20000 /dev/urandom ;;
  cut) "$@" | head -c 25 ;;
  page) "$@" >/dev/null 2>&1; echo '<html>502 Bad Gateway</html>' ;;
  *) exec "$@" ;;
esac
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A site; its Slurm can be hurt."""
    if reason := missing():
        pytest.skip(reason)
    made = World(tmp_path_factory.mktemp("faults"), "")
    try:
        setup = f"""
            mkdir {TINY} && mount -t tmpfs -o size=256k,mode=777 tiny {TINY}
            cat > /srv/shared/spoiler && chmod 755 /srv/shared/spoiler"""
        shell.run([*made.inside, "sh", "-ec", setup], timeout=10, stdin=SPOILER)
        made.start_grid("cmu8")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def portal(world: World) -> SitePortal:
    """hpc behind the spoiler; small keeps its runs on a disk of 256 KiB."""
    clusters: list[dict[str, Any]] = [
        {"name": "hpc", "backend": "slurm", "prefix": ["/srv/shared/spoiler"], "runs": RUNS, "timeout": 1},
        {"name": "small", "backend": "slurm", "runs": TINY, "timeout": 5},
    ]
    made = SitePortal(world, clusters)
    made.run("""
        registering.register_application("tests", {"slug": "begun", "name": "Begun", "ranks": {"min": 1, "max": 8},
            "command": ["bash", "-c", "echo begun >> begun; exec sleep $0", "{seconds}"], "pattern": "ring",
            "parameters": [{"name": "seconds", "type": "int", "min": 0, "max": 600, "default": 0}]})
        registering.register_application("tests", {"slug": "fill", "name": "Fill", "ranks": {"min": 1, "max": 8},
            "command": ["bash", "-c", "head -c 1000000 /dev/zero > big; echo more"], "pattern": "ring",
            "parameters": []})
    """)
    return made


def spoil(portal: SitePortal, how: str) -> None:
    portal.run(f"open('{RUNS}/spoil', 'w').write({how!r})")


def reason_of(portal: SitePortal, job: int) -> str:
    """What the job's page says of it."""
    return str(portal.run(f"print(json.dumps(messages(occupancy.explanation(Job.objects.get(pk={job})))))"))


def page_of(portal: SitePortal, job: int) -> str:
    """The job's page itself."""
    return str(
        portal.run(f"""
            from django.test import Client, override_settings
            plain = {{"staticfiles": {{"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}}}
            override_settings(STORAGES=plain).enable()
            client = Client(SERVER_NAME="localhost")
            client.force_login(User.objects.get(username="ada"))
            answer = client.get(Job.objects.get(pk={job}).get_absolute_url())
            assert answer.status_code == 200, answer.status_code
            print(json.dumps(answer.content.decode()))
        """)
    )


def submit(portal: SitePortal, cluster: str, slug: str = "begun", nodes: int = 2, **parameters: Any) -> int:
    asking = {"cluster": cluster}
    return portal.submit(slug, nodes, asking, **parameters)


def followed(portal: SitePortal, job: int) -> str:
    state: str = portal.run(
        f"tasks.advance_jobs(); tasks.poll_runs(); print(json.dumps(Job.objects.get(pk={job}).state))"
    )
    return state


def once(world: World, story: dict[str, Any]) -> None:
    """The program began once on each node, and Slurm had one job of its name."""
    (run,) = story["runs"]
    begun = world.seen(run["run_dir"]) / "begun"
    assert begun.read_text() == "begun\n" * len(story["nodes"][0])
    argv = ["squeue", "--noheader", "--states=all", f"--name=gp-{run['key']}", "--format=%T"]
    assert world.run(*argv).stdout.split().count("COMPLETED") <= 1


@pytest.mark.parametrize("how", ["before", "after", "garbage"])
def test_a_spoiled_channel_is_shown_and_loses_and_doubles_nothing(portal: SitePortal, world: World, how: str) -> None:
    job = submit(portal, "hpc")
    spoil(portal, how)
    try:
        began = time.monotonic()
        portal.run("tasks.place_jobs('hpc')")
        followed(portal, job)
        assert time.monotonic() - began < 60, "a task hung"
        said = reason_of(portal, job)
        assert any(word in said for word in ("does not answer", "no answer", "gave an answer", "not known")), said
        assert said.split("(")[0].strip().replace("'", "&#x27;") in page_of(portal, job)
    finally:
        spoil(portal, "")
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    once(world, story)


def test_a_running_jobs_spoiled_answers_change_nothing_but_words(portal: SitePortal, world: World) -> None:
    job = submit(portal, "hpc", seconds=600)
    portal.follow(job, "job.state == 'running'", 60, first="tasks.advance_jobs(); tasks.place_jobs('hpc')")
    for how in ("cut", "page"):
        spoil(portal, how)
        assert followed(portal, job) == "running", how
        assert "answer" in reason_of(portal, job), how
    spoil(portal, "")
    portal.follow(job, "job.state == 'running' and said == ''", 60)
    portal.run(f"job = Job.objects.get(pk={job}); submission.cancel_job(job.owner, job); tasks.cancel_run({job})")
    story = portal.to_the_end(job, 60)
    assert story["state"] == "cancelled"


def test_a_full_disk_under_the_run_directories_keeps_jobs_waiting(portal: SitePortal, world: World) -> None:
    fill = f"head -c 1000000 /dev/zero > {TINY}/filler; mkdir {TINY}/probe"
    assert "No space left" in world.run("sh", "-c", fill).stderr
    job = submit(portal, "small")
    portal.run("tasks.place_jobs('small')")
    assert "no room for its run directory" in reason_of(portal, job)
    assert "no room" in page_of(portal, job)
    world.run("sh", "-c", f"rm -rf {TINY}/filler {TINY}/probe")
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    once(world, story)


def test_a_program_that_fills_the_disk_has_an_end(portal: SitePortal, world: World) -> None:
    story = portal.to_the_end(submit(portal, "small", "fill", 1), 60)
    try:
        assert story["state"] in ("failed", "succeeded")
        assert story["reason"] == "" or "\n" not in story["reason"]
        assert len(story["runs"]) == 1
    finally:
        world.run("sh", "-c", f"rm -rf {TINY}/*")


def test_a_full_disk_of_slurmctld_keeps_jobs_waiting(portal: SitePortal, world: World) -> None:
    world.run(
        "sh",
        "-ec",
        f"""
        cp -a {STATE} /srv/state
        mount -t tmpfs -o size=4m state {STATE} && cp -a /srv/state/. {STATE}""",
    )
    # Again and again, for slurmctld makes room itself when it forgets a job.
    fill = f"while :; do cat /dev/zero >> {STATE}/filler; sleep 0.02; done 2>/dev/null"
    filling = shell.start([*world.enter(), "sh", "-c", fill])
    try:
        world.run("sh", "-c", f"until [ $(df --output=avail {STATE} | tail -1) -eq 0 ]; do sleep 0.05; done")
        job = submit(portal, "hpc")
        portal.run("tasks.place_jobs('hpc')")
        state, said = followed(portal, job), reason_of(portal, job)
        assert state == "starting", (state, said)
        assert "no room" in said or "disk" in said, said
    finally:
        filling.kill()
        filling.wait()
        world.run("rm", "-f", f"{STATE}/filler")
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    once(world, story)


def test_munge_down_is_named_with_what_to_do(portal: SitePortal, world: World) -> None:
    job = submit(portal, "hpc")
    grid = world.grid
    grid.slurm("kill", "munge")
    try:
        portal.run("tasks.place_jobs('hpc')")
        assert "munge does not answer on" in reason_of(portal, job)
        assert "start munged there" in page_of(portal, job)
    finally:
        grid.slurm("restart", "munge")
    story = portal.to_the_end(job, 60)
    assert story["state"] == "succeeded", story["reason"]
    once(world, story)
