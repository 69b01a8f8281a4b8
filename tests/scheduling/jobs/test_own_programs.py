"""Programs that people bring: what is kept, who may submit them, and where they may run."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import ConflictError, InputError, SeveralInputsError
from monitoring.clusters.models import Cluster
from scheduling.jobs.models import Application
from scheduling.jobs.selectors import may_use, uploaded_programs, usable_applications, visible_applications
from scheduling.jobs.services import own_programs, share_partners
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.jobs.services.program_clusters import Hindrance, check_use, hindrance
from scheduling.runs.adapters.mpi_build import mpicc_of

pytestmark = pytest.mark.django_db
SCRIPT = b"#!/bin/bash\nmpiexec -n $SLURM_NTASKS ./solve\n"


@pytest.fixture
def program(people):
    return save_program(people["user"], ProgramRequest("Heat plate", kind="batch", content=SCRIPT, file_name="heat.sh"))


@pytest.mark.parametrize(
    ("kind", "content", "file_name", "field"),
    [
        ("mpi", b"from mpi4py import MPI\nprint(MPI.COMM_WORLD.rank)\n", "ring.py", "kind"),
        ("mpi", b"import numpy as np\n", "", "kind"),
        ("mpi", b"#!/bin/bash\n#SBATCH -n 4\nsrun ./solve\n", "job.sh", "kind"),
        ("mpi", b"#include <mpi.h>\nint main() {}\n", "hello.c", "content"),
        ("batch", b"program ring\nend\n", "ring.f90", "content"),
    ],
)
def test_what_cannot_be_started_so_is_refused_before_it_is_kept(people, kind, content, file_name, field):
    with pytest.raises(SeveralInputsError) as refused:
        save_program(people["user"], ProgramRequest("Ring", kind=kind, content=content, file_name=file_name))
    assert [error.field for error in refused.value.errors] == [field]
    assert not Application.objects.filter(owner=people["user"]).exists()


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("mpi", b"\x7fELF\x02 import x"),
        ("mpi", b"#!/usr/bin/env python3\nimport sys\n"),
        ("mpi", b"#!/bin/sh\necho import me from here\n"),
        ("python", b"import sys\n"),
    ],
)
def test_what_can_be_started_so_is_kept(people, kind, content):
    assert save_program(people["user"], ProgramRequest("Ring", kind=kind, content=content)).pk


def test_an_uploaded_batch_script_runs_once_and_finds_its_nodes(program):
    assert program.command == ["bash", "{run_dir}/program"]
    assert program.launcher[:2] == ["env", "HYDRA_HOST_FILE={hostfile}"]
    assert uploaded_programs([program]) == {program.pk: SCRIPT}


def test_a_program_at_a_path_is_started_for_each_rank(people):
    made = save_program(people["user"], ProgramRequest("Solver", path="/shared/solver", arguments=["{ranks}", "a b"]))
    assert (made.command, made.launcher) == (["/shared/solver", "{ranks}", "a b"], [])
    assert uploaded_programs([made]) == {}


def test_all_errors_are_told_at_once(people):
    asked = ProgramRequest(
        " ", path="solver", arguments=["{size}"], environment={"LD_PRELOAD": "x"}, ranks={"min": 0}, modules=["-x"]
    )
    with pytest.raises(SeveralInputsError) as refused:
        save_program(people["user"], asked)
    fields = {error.field.partition(".")[0] for error in refused.value.errors}
    assert {"path", "name", "environment", "modules", "ranks"} <= fields
    assert not Application.objects.filter(owner=people["user"]).exists()


@pytest.mark.parametrize("path", ["solver", "../x", "/a/../b", "/a/", "/a\nb", "/a/{run_dir}", ""])
def test_a_path_that_is_none_is_refused(people, path):
    with pytest.raises(SeveralInputsError):
        save_program(people["user"], ProgramRequest("Solver", path=path))


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "openmpi-debian", "mpich-debian"])
def test_no_compiler_of_a_user_is_ever_run_by_the_portal(people, mpi):
    made = save_program(people["user"], ProgramRequest("Evil", path="/home/evil/mpiexec", mpi=mpi))
    assert not any("/" in word for word in made.launcher)
    assert "evil" not in mpicc_of(made.mpi, made.launcher)
    with pytest.raises(SeveralInputsError):
        save_program(people["user"], ProgramRequest("Evil", path="/x/y", mpi="/home/evil/mpirun"))


def test_only_the_owner_may_use_it_until_it_is_shared(people, program):
    user, other, operator = people["user"], people["other"], people["operator"]
    assert may_use(user, program)
    assert not may_use(other, program)
    assert program not in visible_applications(other)
    assert program in visible_applications(operator)
    assert program not in usable_applications(operator)
    share = own_programs.share_program(user, program, "other")
    assert own_programs.share_program(user, program, "other") == share
    assert program in usable_applications(other)
    own_programs.stop_sharing(user, share)
    assert not may_use(other, program)


def test_a_group_is_shared_with_by_its_members_and_roles_are_no_groups(people, program):
    group = Group.objects.create(name="chemists")
    with pytest.raises(InputError):
        own_programs.share_program(people["user"], program, "chemists")
    people["user"].groups.add(group)
    people["other"].groups.add(group)
    own_programs.share_program(people["user"], program, "chemists")
    assert may_use(people["other"], program)
    for nobody in ("operator-group", "user", "other\0"):
        with pytest.raises(InputError):
            own_programs.share_program(people["user"], program, nobody)
    assert share_partners.shareable_groups(people["user"]) == ["chemists"]


def test_an_offer_is_published_as_it_was_looked_at(people, program):
    own_programs.offer_program(people["user"], program)
    looked_at = program.offered_at
    changed = save_program(people["user"], ProgramRequest("Heat plate", kind="batch", content=b"rm -rf ~\n"), program)
    assert changed.offered_at is None
    with pytest.raises(ConflictError):
        own_programs.publish_program(people["administrator"], changed, looked_at)
    own_programs.offer_program(people["user"], changed)
    published = own_programs.publish_program(people["administrator"], changed, changed.offered_at)
    assert published.owner is None
    assert may_use(people["other"], published)


def test_a_name_that_the_same_people_see_already_is_refused_and_old_ones_stay(people, program):
    Application.objects.create(slug="ring", name="Ring", command=["true"])
    for name in ("HEAT PLATE", " ring"):
        with pytest.raises(SeveralInputsError) as refused:
            save_program(people["user"], ProgramRequest(name, path="/x/y"))
        assert [error.field for error in refused.value.errors] == ["name"]
    twin = save_program(people["user"], ProgramRequest("Heat pipe", path="/x/y"))
    with pytest.raises(SeveralInputsError, match="no other program has"):
        save_program(people["user"], ProgramRequest("Heat plate", path="/x/y"), twin)
    Application.objects.filter(pk=twin.pk).update(name="Heat plate")  # of before there was this rule
    twin = Application.objects.select_related("program").get(pk=twin.pk)
    assert save_program(people["user"], ProgramRequest("Heat plate", path="/x/z"), twin).program.path == "/x/z"


def test_two_programs_of_names_nearly_alike_have_addresses_of_their_own_and_tell_nothing(people, program):
    again = save_program(people["user"], ProgramRequest("Heat-plate", path="/x/y"))
    theirs = save_program(people["other"], ProgramRequest("Heat plate", path="/x/y"))
    assert again.slug == f"{program.slug}-2"
    assert theirs.slug == program.slug.replace(f"own-{people['user'].pk}", f"own-{people['other'].pk}")


def test_one_that_jobs_have_run_is_kept(people, program, make_job):
    make_job(people["user"], application=program)
    with pytest.raises(ConflictError):
        own_programs.remove_program(people["user"], program)


def grid(isolation: str) -> Setting:
    Cluster.objects.update_or_create(name="grid", defaults={"facts": {"isolation": isolation}})
    return Setting(name="grid", backend="grid")


@pytest.mark.parametrize(
    ("isolation", "why"),
    [
        ("own-user", None),
        ("own-view", Hindrance.PORTAL_USER),
        ("none", Hindrance.PORTAL_USER),
        ("", Hindrance.NOT_TESTED),
        ("untested", Hindrance.NOT_TESTED),
    ],
)
def test_a_grid_takes_them_where_it_keeps_owners_apart(db, isolation, why):
    assert hindrance(grid(isolation)) is why


def test_slurm_takes_them_where_jobs_run_as_their_person(db):
    as_person = Setting(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))
    assert hindrance(as_person) is None
    assert hindrance(Setting(name="hpc", backend="slurm")) is Hindrance.PORTAL_USER
    assert hindrance(Setting(name="here", backend="local")) is Hindrance.PORTAL_USER


def test_the_setting_has_the_last_word(db, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "never"})
    assert hindrance(grid("own-user")) is Hindrance.SWITCHED_OFF
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "always"})
    assert hindrance(grid("none")) is None


def test_everybodys_programs_run_anywhere(people, application, program):
    check_use(people["other"], application, grid("none"))
    with pytest.raises(InputError, match="none for Heat plate"):
        check_use(people["user"], program, grid("none"))
    with pytest.raises(InputError, match="an application that you may submit"):
        check_use(people["other"], program, grid("own-user"))


def test_what_was_published_meanwhile_does_not_become_private_again(people, program):
    offered = own_programs.offer_program(people["user"], program)
    stale = Application.objects.get(pk=program.pk)
    own_programs.publish_program(people["administrator"], offered, offered.offered_at)
    asked = ProgramRequest("Mine again", path="/shared/other")
    for late in (
        lambda: save_program(people["user"], asked, stale),
        lambda: own_programs.offer_program(people["user"], stale),
        lambda: own_programs.share_program(people["user"], stale, people["other"].username),
    ):
        with pytest.raises(ConflictError, match="not yours any more"):
            late()
    kept = Application.objects.get(pk=program.pk)
    assert (kept.owner, kept.name, kept.offered_at) == (None, program.name, None)
    assert not kept.shares.exists()


def test_what_others_changed_since_it_was_read_stays(people, program):
    mine = Application.objects.select_related("program").get(pk=program.pk)
    Application.objects.filter(pk=program.pk).update(description="Said meanwhile.", stop_means={"by": "srs"})
    asked = ProgramRequest("Heat plate", kind="batch", modules=["gcc"], description=mine.description)
    save_program(people["user"], asked, mine)
    program.refresh_from_db()
    assert (program.modules, program.description) == (["gcc"], "Said meanwhile.")
    assert program.stop_means.by.value == "srs"
    assert uploaded_programs([program]) == {program.pk: SCRIPT}


def test_a_change_of_the_file_alone_is_kept(people, program):
    asked = ProgramRequest("Heat plate", kind="batch", content=SCRIPT + b"true\n", file_name="two.sh")
    save_program(people["user"], asked, Application.objects.select_related("program").get(pk=program.pk))
    program.refresh_from_db()
    assert uploaded_programs([program]) == {program.pk: SCRIPT + b"true\n"}
    assert program.program.file_name == "two.sh"
