"""What every test of the portal shares: people of each role, an application, jobs in any state.

Settings come from tests/settings.py (home in a temporary folder, plain static files, MD5 passwords).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.core.management.commands.migrate import Command as Migrate
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as examples

from gridportal.web import downloads
from tests import in_turn, migrated
from tests.first_reading import pytest_xdist_setupnodes
from tests.no_silent_skips import pytest_runtest_makereport
from tests.side_by_side import pytest_xdist_make_scheduler

__all__ = ["pytest_runtest_makereport", "pytest_xdist_make_scheduler", "pytest_xdist_setupnodes"]

# While thousands of tests are read little becomes garbage, and to look for it again and again takes half of the time.
gc.disable()

# A shell starts what is in the background with SIGINT ignored, nohup with SIGHUP, and programs inherit that. What
# is handled is not inherited: what a test starts has default signals, and these tests still do not hear them.
for _signum in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_signum) is signal.SIG_IGN:
        signal.signal(_signum, lambda signum, frame: None)

# Properties are tried with the same examples on every machine: no database, seed or variable of a CI changes them, and
# a busy machine takes its time. New examples, and more of them, are the work of `make fuzz` (tests/fuzz.py).
examples.register_profile(
    "same everywhere",
    examples.get_profile("default"),
    derandomize=True,
    max_examples=25,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
examples.register_profile(
    "fuzz", examples.get_profile("same everywhere"), derandomize=False, max_examples=100, print_blob=True
)
examples.load_profile("same everywhere")


def make_roles() -> None:
    """The groups of the roles, all that migrations write into an empty portal. Whoever empties the database puts them
    back, so that it does not matter in which order tests run."""
    with connection.schema_editor() as editor:
        importlib.import_module("gridportal.accounts.migrations.0002_roles").make(apps, editor)


_empty_database = TransactionTestCase._fixture_teardown


def _empty_but_for_roles(case: TransactionTestCase) -> None:
    """What a test with transactions of its own leaves: of SQLite a new copy, for to empty each table and to make all
    permissions anew takes longer than most of these tests."""
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        migrated.put_now(connection.connection)
    else:
        _empty_database(case)
        make_roles()


TransactionTestCase._fixture_teardown = _empty_but_for_roles


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_use_migrations: bool
) -> Iterator[None]:
    """The database in memory begins as a copy of one with every migration, so that none is left to be run, or read."""
    creation, handle = connection.creation, Migrate.handle
    make = creation._create_test_db
    copies: list[sqlite3.Connection] = []

    def leave(*_: Any, **__: Any) -> None:
        """In place of the command that follows; all others do what they do."""
        patch.setattr(Migrate, "handle", handle)

    def make_as_copy(*args: Any, **options: Any) -> str:
        name: str = make(*args, **options)
        if name.startswith("file:"):
            copies.append(migrated.put_into_memory(name))
            patch.setattr(Migrate, "handle", leave)
        return name

    with pytest.MonkeyPatch.context() as patch:
        if django_db_use_migrations and connection.vendor == "sqlite":
            patch.setattr(creation, "_create_test_db", make_as_copy)
        yield
    for copy in copies:
        copy.close()


PASSWORD = "correct-horse-battery"
ROLES = ("user", "other", "operator", "manager", "administrator")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before tests are taken out by their marks."""
    in_turn.mark_others_slow(items)


def pytest_collection_finish() -> None:
    """From here on garbage is collected; what was read stays to the end, and is not looked at again."""
    gc.enable()
    gc.freeze()


@pytest.fixture
def programs() -> Iterator[Path]:
    """A folder whose programs jobs on the Grid may start: of all others below /tmp they see nothing."""
    shown = json.loads(os.environ["GRIDPORTAL_GRID_SHOW"])[0]
    folder = Path(tempfile.mkdtemp(dir=shown))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def fresh_cache() -> None:
    """Each test starts with nothing cached and no request counted."""
    cache.clear()
    downloads.forget()
    if monitor := sys.modules.get("scheduling.resource_requests.services.resource_monitor"):
        monitor.MONITOR.forget()


@pytest.fixture
def earlier(transactional_db: None) -> Iterator[Callable[[str, str], Any]]:
    """earlier("scheduling", "0020_decisions"): the database is one that was just brought to there (one of
    migrated.KEPT), without rows, and the models of then are answered. At the end it is as it is now, and empty."""

    def put(app: str, name: str) -> Any:
        connection.ensure_connection()
        migrated.put_earlier(connection.connection, app, name)
        return models_after((app, name))

    yield put
    migrated.put_now(connection.connection)


def models_after(*targets: tuple[str, str]) -> Any:
    """Bring the database to these migrations; the models as they are there."""
    MigrationExecutor(connection).migrate(list(targets))
    return MigrationExecutor(connection).loader.project_state(list(targets)).apps


@pytest.fixture
def people(db: None) -> dict[str, Any]:
    """One person per role, and `other`: a second plain user. All sign in with PASSWORD."""
    from django.contrib.auth.hashers import make_password
    from django.contrib.auth.models import Group

    from gridportal.accounts.models import User

    password = make_password(PASSWORD)
    made = {name: User(username=name, password=password) for name in ROLES}
    made["administrator"].is_staff = made["administrator"].is_superuser = True
    User.objects.bulk_create(made.values())
    groups = {role: Group.objects.get_or_create(name=role)[0] for role in ("user", "operator", "manager")}
    members = {"user": ("user", "other"), "operator": ("operator",), "manager": ("manager",)}
    membership: Any = User.groups.through
    membership.objects.bulk_create(
        membership(user=made[name], group=groups[role]) for role, names in members.items() for name in names
    )
    return made


@pytest.fixture
def client_as(people: dict[str, Any]) -> Callable[..., Client]:
    """client_as("operator") is a signed-in test client; client_as("anonymous") is not signed in."""

    def make(role: str, **options: Any) -> Client:
        client = Client(**options)
        if role != "anonymous":
            client.force_login(people[role], backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def application(db: None) -> Any:
    """An application like NAS EP: one choice, one number, one free text."""
    from scheduling.jobs.models import Application

    return Application.objects.create(
        slug="ep",
        name="NAS EP",
        description="Embarrassingly parallel random numbers.",
        command=[
            "{python}",
            "-m",
            "gridportal.workloads.ep",
            "--class",
            "{klass}",
            "--seed",
            "{seed}",
            "--note",
            "{note}",
        ],
        parameters=[
            {
                "name": "klass",
                "label": "Class",
                "type": "choice",
                "choices": ["S", "W", "A"],
                "default": "S",
                "help": "",
            },
            {"name": "seed", "label": "Seed", "type": "integer", "min": 0, "max": 1000, "default": 1, "help": ""},
            {"name": "note", "label": "Note", "type": "text", "default": "", "help": "Printed in the log."},
        ],
        pattern="ep",
        ranks={"choices": [1, 2, 4, 8]},
        phases=["random_numbers", "reduce"],
    )


@pytest.fixture
def make_job(application: Any) -> Callable[..., Any]:
    """make_job(owner, state="queued", **fields): a job; from `starting` on with its placement and run.

    The run's directory holds an output.log of three lines and the script.
    """
    from gridportal.base.reasons import text_reason
    from scheduling.jobs.models import Job

    def make(owner: Any, state: str = "queued", **fields: Any) -> Any:
        values = {"parameters": {"klass": "S", "seed": 1, "note": ""}, "node_count": 2, "pattern": "ep"} | fields
        values = {"ranks": values["node_count"]} | values
        job = Job.objects.create(owner=owner, **({"application": application} | values), state=state)
        job.events.create(to_state="queued", actor=owner.username)
        if state != "queued":
            job.events.create(from_state="queued", to_state=state, reason=text_reason("Made by a test."))
        if state not in ("queued", "placing", "waiting", "trial"):
            _place_and_run(job, state)
        return job

    return make


def _place_and_run(job: Any, state: str) -> None:
    from django.utils import timezone

    from scheduling.placing.models import Placement
    from scheduling.runs.models import Run

    nodes = [f"n{number}" for number in range(1, job.node_count + 1)]
    objective = {"min_bandwidth": 80e6, "min_cpu": 1.0}
    candidate = {"nodes": nodes, "objective": objective, "bottleneck": None, "edges": [], "reason": "The best."}
    now = timezone.now()
    placement = Placement.objects.create(
        job=job,
        method=job.method,
        pattern=job.pattern,
        nodes=nodes,
        objective=objective,
        optimal=True,
        candidates=[candidate],
        seconds=0.001,
        measured_at=now,
    )
    run_dir = Path(settings.PORTAL.home) / "runs" / f"{job.pk}-1"
    shutil.rmtree(run_dir, ignore_errors=True)  # numbers begin anew with every test, the home does not
    run_dir.mkdir(parents=True)
    run_dir.joinpath("output.log").write_text("first line\nsecond line\nthird line\n", encoding="utf-8")
    run_dir.joinpath("script.sh").write_text("#!/bin/bash\ntrue\n", encoding="utf-8")
    done = state in ("succeeded", "failed", "cancelled")
    Run.objects.create(
        job=job,
        number=1,
        placement=placement,
        key=f"job-{job.pk}-run-1",
        backend_id=f"job-{job.pk}-run-1",
        state={"starting": "submitted", "cancelling": "stopping", "moving": "recalling", "stopped": "checkpointed"}.get(
            state, state
        ),
        run_dir=str(run_dir),
        script="#!/bin/bash\ntrue\n",
        started_at=now,
        hosts=nodes,
        ended_at=now if done else None,
        exit_code={"succeeded": 0, "failed": 1}.get(state),
        verified=True if state == "succeeded" else None,
        seconds=1.5 if state == "succeeded" else None,
    )
    type(job).objects.filter(pk=job.pk).update(started_at=now, ended_at=now if done else None, attempts=1)
    job.refresh_from_db()
