"""The command prefix before a real Slurm: jobs run as the person who submitted, by sudo and by ssh, and nobody else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from tests.gridportal.slurm.world import CHECKOUT, RUNS, SHARED, SUDO, SitePortal, World, missing, sudoers
from tests.scheduling.portal import wait_for

pytestmark = [pytest.mark.grid, pytest.mark.slurm]

RUNTIME = f"{SHARED}/runtime"
PORT = 61022
WHO = "id -un; id -un > made; mkdir -p deep; echo x > deep/made; test -e go || sleep {seconds}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A site with the sudoers lines of the guide."""
    if reason := missing():
        pytest.skip(reason)
    made = World(tmp_path_factory.mktemp("site"), sudoers())
    try:
        made.start_grid("cmu8")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def portal(world: World) -> SitePortal:
    """hpc by sudo; far by ssh to one account, near by ssh to each person's; other with another Python."""
    ssh = ["ssh", "-F", "/srv/ssh/config"]
    clusters: list[dict[str, Any]] = [
        {"name": "hpc", "backend": "slurm", "prefix": SUDO, "runs": RUNS},
        {"name": "far", "backend": "slurm", "prefix": [*ssh, "gridportal@login"], "runs": RUNS},
        {"name": "near", "backend": "slurm", "prefix": [*ssh, "{user}@login"], "runs": RUNS},
        {
            "name": "other",
            "backend": "slurm",
            "runs": RUNS,
            "python": f"{RUNTIME}/bin/python",
            "container": ["env", "CONTAINED=yes"],
            "environment": {"SITE": "a b; $HOME"},
        },
    ]
    made = SitePortal(world, clusters)
    made.run(f"""
        base = {{"pattern": "ring", "ranks": {{"min": 1, "max": 8}}}}
        registering.register_application("tests", base | {{"slug": "who", "name": "Who",
            "command": ["bash", "-c", {WHO.replace("{seconds}", "$0")!r}, "{{seconds}}"],
            "parameters": [{{"name": "seconds", "type": "int", "min": 0, "max": 600, "default": 0}}]}})
        registering.register_application("tests", base | {{"slug": "python", "name": "Python", "parameters": [],
            "command": ["{{python}}", "-c",
                "import os, sys; print(sys.executable, os.environ['CONTAINED'], os.environ['SITE'])"]}})
    """)
    return made


@pytest.fixture(scope="module")
def sshd(world: World) -> Iterator[None]:
    """An SSH server on loopback with keys of its own, where slurmctld is."""
    if not Path("/usr/sbin/sshd").exists():
        pytest.skip("sshd not installed: apt-get install openssh-server")
    world.run("sh", "-c", _SSH_KEYS)
    argv = [*world.enter(), "/usr/sbin/sshd", "-D", "-e", "-f", "/srv/ssh/sshd_config"]
    server = shell.start(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    login = ["ssh", "-F", "/srv/ssh/config", "ann@login", "true"]
    wait_for(lambda: world.run(*login, user="gridportal").returncode == 0, "sshd to let ann in")
    yield
    server.terminate()
    server.wait(timeout=10)


_SSH_KEYS = f"""
set -e
mkdir -p /srv/ssh /run/sshd
ssh-keygen -q -t ed25519 -N '' -f /srv/ssh/host
ssh-keygen -q -t ed25519 -N '' -f /srv/ssh/key
chown gridportal /srv/ssh/key
cat > /srv/ssh/sshd_config <<END
Port {PORT}
ListenAddress 127.0.0.1
HostKey /srv/ssh/host
AuthorizedKeysFile /srv/ssh/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PidFile none
END
cat > /srv/ssh/config <<END
Host login
  HostName 127.0.0.1
  Port {PORT}
  IdentityFile /srv/ssh/key
  IdentitiesOnly yes
  BatchMode yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
END
"""


def story_of(portal: SitePortal, world: World, job: int) -> tuple[dict[str, Any], Path, list[str]]:
    """How a job ended, its run directory seen from outside, and what it printed, as the portal reads it."""
    story = portal.to_the_end(job, 60)
    directory = story["runs"][0]["run_dir"]
    said = portal.run(f"print(json.dumps(open({directory + '/output.log'!r}).read().split()))")
    return story, world.seen(directory), said


def submit(portal: SitePortal, person: str, cluster: str, slug: str = "who", nodes: int = 1, **parameters: Any) -> int:
    job: int = portal.run(f"""
        asked = job_spec.JobSpec(
            Application.objects.get(slug={slug!r}), {parameters!r}, {nodes}, cluster={cluster!r})
        print(submission.submit_job(User.objects.get(username={person!r}), asked).pk)
    """)
    return job


def test_two_peoples_jobs_run_as_each_and_neither_gets_into_the_others_directory(
    portal: SitePortal, world: World
) -> None:
    jobs = {person: submit(portal, person, "hpc") for person in ("ann", "ben")}
    portal.run_at_once(*["tasks.place_jobs('hpc')"] * 2)
    for person, job in jobs.items():
        story, directory, said = story_of(portal, world, job)
        assert (story["state"], story["runs"][0]["exit_code"]) == ("succeeded", 0), story["reason"]
        assert said == [person]
        assert (directory / "made").read_text() == f"{person}\n"
        inside = f"/{directory.relative_to(world.seen('/'))}"
        for other, may in (("ann", person == "ann"), ("ben", person == "ben"), ("eve", False)):
            for attempt in (f"ls {inside}", f"touch {inside}/touched", f"cat {inside}/output.log"):
                assert (world.run("sh", "-c", attempt, user=other).returncode == 0) is may, (other, attempt)
        assert world.run("cat", f"{inside}/deep/made", user="gridportal").stdout == "x\n"


def test_holding_and_cancelling_go_through_the_owners_account(portal: SitePortal, world: World) -> None:
    job = submit(portal, "ann", "hpc", seconds=300)
    portal.run("tasks.place_jobs('hpc')")
    number = portal.run(f"print(json.dumps(Job.objects.get(pk={job}).runs.get().backend_id))")
    assert world.run("squeue", "--noheader", f"--jobs={number}", "--format=%u").stdout.strip() == "ann"
    assert "denied" in world.run("scancel", number, user="gridportal").stderr
    state = f"tasks.poll_runs(); print(json.dumps(Job.objects.get(pk={job}).state))"
    wait_for(lambda: portal.run(state) == "running", "ann's job to run")
    portal.run(f"""
        from django.contrib.auth.models import Group
        operator = User.objects.create_user("opal")
        operator.groups.add(Group.objects.get_or_create(name="operator")[0])
        submission.cancel_job(operator, Job.objects.get(pk={job})); tasks.cancel_run({job})
    """)
    assert portal.to_the_end(job, 30)["state"] == "cancelled"


def test_who_has_no_unix_account_is_told_so_in_one_sentence(portal: SitePortal) -> None:
    said = portal.run("""
        from gridportal.base.errors import InputError
        try:
            asked = job_spec.JobSpec(Application.objects.get(slug="who"), {}, 1)
            submission.submit_job(User.objects.get(username="zoe"), asked)
        except InputError as error:
            print(json.dumps(str(error)))
    """)
    assert said.startswith("user name is 'zoe'; accepted is the name of a unix account")
    assert said.count(".") == 1


def test_whom_sudo_does_not_allow_is_told_so_and_nothing_runs(portal: SitePortal, world: World) -> None:
    story = portal.to_the_end(submit(portal, "eve", "hpc"), 30)
    assert story["state"] == "failed"
    assert "sudo does not let the portal run sbatch" in story["reason"]
    assert "a password is required" in story["reason"]
    assert world.run("squeue", "--noheader", "--user=eve", "--states=all").stdout == ""


CLOSES = (
    'umask 077; cd "$1"; mkdir -m 700 deep; echo x > deep/a.1; echo x > /srv/home/ann/b; mv /srv/home/ann/b deep/b.1; '
    'chmod 600 deep/*; ln -s /etc link; [ -z "$2" ] || kill -KILL $PPID; exit 3'
)


@pytest.mark.parametrize("killed", ["", "killed"])
def test_what_a_program_closes_to_the_portal_is_read_and_freed_by_it_and_by_nobody_else(
    portal: SitePortal, world: World, killed: str
) -> None:
    """By its script, and where that was killed by its owner's account."""
    job = portal.run(f"""
        means = {{"by": "own", "file": "stop", "seconds": 60, "restart": ["{{file}}"], "pattern": "deep/a.*"}}
        made = registering.register_application("tests", {{"slug": "closes-{killed}", "name": "Closes {killed}",
            "command": ["bash", "-c", {CLOSES!r}, "closes", "{{checkpoints}}", "{killed}", "{{restart}}"],
            "launcher": ["env"], "pattern": "ring", "ranks": {{"min": 1, "max": 8}}, "stop_means": means}})
        asked = job_spec.JobSpec(made, {{}}, 1, cluster="hpc")
        print(submission.submit_job(User.objects.get(username="ann"), asked).pk)
    """)
    assert portal.to_the_end(job, 60)["state"] == "failed"
    place = portal.run(f"""
        from scheduling.runs.services import job_folder
        print(json.dumps(str(job_folder.checkpoints(Job.objects.get(pk={job})))))
    """)
    read = ["cat", f"{place}/deep/a.1", f"{place}/deep/b.1"]
    assert (world.run(*read, user="gridportal").returncode == 0) is not bool(killed)
    portal.run(f"""
        from scheduling.checkpoints.services.requesting import _left
        assert _left(Job.objects.get(pk={job})).facts["file"] == "a.1"
    """)
    assert world.run(*read, user="gridportal").stdout == "x\nx\n"
    for other in ("ben", "eve"):
        assert world.run("ls", place, user=other).returncode != 0
    assert "gridportal" not in world.run("getfacl", "/etc").stdout
    closed = world.run("chmod", "-R", "700", f"{place}/deep", user="ann")
    assert closed.returncode == 0, closed.stderr
    portal.run(f"""
        from scheduling.runs.services import job_folder
        job_folder.free(Job.objects.get(pk={job}))
    """)
    assert world.run("ls", place).returncode != 0


@pytest.mark.parametrize(
    "command",
    [
        "id",
        "env LC_ALL=C SLURM_TIME_FORMAT=%s id",
        "env X=1 sbatch --version",
        "env LC_ALL=C SLURM_TIME_FORMAT=%s LD_PRELOAD=/x sbatch --version",
    ],
)
def test_the_sudoers_lines_of_the_guide_allow_nothing_else(world: World, command: str) -> None:
    assert world.run("sudo", "-n", "-u", "ann", *command.split(), user="gridportal").returncode != 0
    assert world.run("sudo", "-n", *command.split(), user="gridportal").returncode != 0


@pytest.mark.parametrize("command", ["sbatch", "squeue", "scontrol", "scancel", "sinfo", "sacct"])
def test_the_sudoers_lines_of_the_guide_allow_every_command_of_the_portal(world: World, command: str) -> None:
    argv = ["sudo", "-n", "-u", "ben", "env", "LC_ALL=C", "SLURM_TIME_FORMAT=%s", command, "--version"]
    assert world.run(*argv, user="gridportal").stdout.startswith("slurm")


@pytest.mark.usefixtures("sshd")
@pytest.mark.parametrize(("cluster", "account"), [("far", "gridportal"), ("near", "ann")])
def test_jobs_go_by_ssh(portal: SitePortal, world: World, cluster: str, account: str) -> None:
    story, _, said = story_of(portal, world, submit(portal, "ann", cluster, nodes=2))
    assert story["state"] == "succeeded", story["reason"]
    assert set(said) == {account}


def test_a_login_node_that_is_gone_is_shown_and_the_job_waits(portal: SitePortal) -> None:
    job = submit(portal, "ann", "far")
    portal._world.run("sed", "-i", f"s/{PORT}/1/", "/srv/ssh/config")
    try:
        portal.run("tasks.place_jobs('far')")
        reason = portal.run(f"print(json.dumps(messages(occupancy.explanation(Job.objects.get(pk={job})))))")
        assert "could not be reached" in reason
    finally:
        portal._world.run("sed", "-i", f"s/Port 1$/Port {PORT}/", "/srv/ssh/config")
        portal.run(f"job = Job.objects.get(pk={job}); submission.cancel_job(job.owner, job)")


@pytest.fixture(scope="module")
def runtime(world: World) -> None:
    """Another Python than the portal's: a venv on the shared folder with the packages of gridportal[runtime]."""
    old = Path(sys.prefix)
    site = next(old.glob("lib/python*/site-packages"))
    world.run(
        "sh",
        "-ec",
        f"""
        {sys.executable} -m venv --without-pip {RUNTIME}
        cd {RUNTIME}/lib/python*/site-packages
        ln -s {site}/numpy* {site}/mpi4py* .
        mkdir gridportal
        cp -r {CHECKOUT}/gridportal/__init__.py {CHECKOUT}/gridportal/base {CHECKOUT}/gridportal/runtime gridportal
        cp -r {CHECKOUT}/gridportal/workloads gridportal
        cp -P {old}/bin/mpiexec* {old}/bin/hydra* {RUNTIME}/bin
        cp -rP {old}/lib/lib*.so* {old}/lib/mpich {RUNTIME}/lib
    """,
    )


@pytest.mark.usefixtures("runtime")
def test_a_shipped_program_runs_with_the_clusters_own_python(portal: SitePortal, world: World) -> None:
    story = portal.to_the_end(submit(portal, "ada", "other", "nas-cg", 2, **{"class": "S"}), 60)
    assert (story["state"], story["runs"][0]["verified"]) == ("succeeded", True), story["reason"]
    script = world.seen(story["runs"][0]["run_dir"]) / "script.sh"
    assert str(Path(sys.prefix)) not in script.read_text()
    _, _, said = story_of(portal, world, submit(portal, "ada", "other", "python"))
    assert said == [f"{RUNTIME}/bin/python", "yes", "a", "b;", "$HOME"]


@pytest.mark.usefixtures("runtime", "sshd")
def test_the_doctor_finds_every_cluster_of_the_site_well(portal: SitePortal) -> None:
    found = portal.run("""
        from gridportal.serve import doctor
        print(json.dumps({f.topic: [f.state, f.seen, f.advice] for f in doctor._clusters()}))
    """)
    assert list(found) == ["cluster hpc", "cluster far", "cluster near", "cluster other"]
    for topic, (state, seen, advice) in found.items():
        assert (state, advice) == ("yes", ""), topic
        assert "munge answers; no accounts" in seen
        assert "8 nodes" in seen
    assert f"{RUNTIME}/bin/python has gridportal[runtime]" in found["cluster other"][1]


def ask(portal: SitePortal, options: dict[str, Any], name: str = "") -> int | str:
    """The number of ann's job with these options, or the sentence that refuses it."""
    answer: int | str = portal.run(f"""
        from gridportal.base.errors import GridPortalError
        asked = job_spec.JobSpec(Application.objects.get(slug="who"), {{}}, 1, cluster="hpc", name={name!r})
        try:
            asked = asked.with_changes({{"options": {options!r}}})
            print(submission.submit_job(User.objects.get(username="ann"), asked).pk)
        except GridPortalError as error:
            print(json.dumps(str(error)))
    """)
    return answer


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"constraint": "cmu|(cmu"}, "Invalid feature specification"),
        ({"cpus_per_rank": 7}, "No node|not available|the most that a node of hpc has"),
    ],
)
def test_what_no_node_can_offer_is_refused_in_one_line(portal: SitePortal, options: dict[str, Any], said: str) -> None:
    job = ask(portal, options)
    if isinstance(job, int):
        story = portal.to_the_end(job, 30)
        assert story["state"] == "failed"
        job = story["reason"]
    assert re.search(said, job)
    assert "\n" not in job


def test_commands_in_names_and_a_long_output_do_no_harm(portal: SitePortal, world: World) -> None:
    job = ask(portal, {}, name=f"$(touch {RUNS}/pwned); `id` 'zażółć' \" 🚀")
    assert isinstance(job, int), job
    story, directory, said = story_of(portal, world, job)
    assert (story["state"], said) == ("succeeded", ["ann"])
    assert not world.seen(f"{RUNS}/pwned").exists()
    assert "zażółć" in (directory / "script.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["gridportal.slurm.submit:script:after", "gridportal.slurm.submit:parse_id:before"])
def test_a_worker_killed_around_a_submission_as_somebody_leaves_one_job(
    portal: SitePortal, world: World, place: str
) -> None:
    job = submit(portal, "ben", "hpc")
    assert portal.run("tasks.place_jobs('hpc')", kill_at=place) is None
    story, _, said = story_of(portal, world, job)
    assert (story["state"], said) == ("succeeded", ["ben"]), story["reason"]
