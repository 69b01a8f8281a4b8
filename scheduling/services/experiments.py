"""Experiments that run beside the portal: one child process at a time, followed by its folder and its lock.

The child is the command `gridportal experiment`. It ends with the worker that started it; the next look then takes it
up again in the same folder, where every finished trial is kept. What somebody starts from the command line in the
portal's own folder is followed in the same way.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from gridportal import shell
from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import User
from gridportal.errors import GridPortalError, InputError
from gridportal.experiments import alone, catalogue, record
from scheduling.models import Experiment
from scheduling.models_experiments import DONE, FAILED, OPEN, QUEUED, RUNNING, STOPPED, STOPPING

_MOST_RESTARTS = 3
_SILENT = timedelta(seconds=60)
_LOG = "experiment.log"
_children: dict[int, subprocess.Popen[bytes]] = {}


def start(actor: Actor, name: str, seed: int, *, full: bool) -> Experiment:
    """Put an experiment into the line. Raises InputError for one that is there already."""
    if name not in catalogue.NAMES:
        raise InputError("name", name, "one of " + ", ".join(catalogue.NAMES))
    folder = catalogue.folder_of(base(), name, seed, full=full)
    if Experiment.objects.filter(folder=str(folder)).exists() or (folder / "plan.json").exists():
        raise _run_already(name, seed)
    by = actor if isinstance(actor, User) else None
    try:
        with transaction.atomic():
            trials_in_all = catalogue.count(name, seed, folder, full=full)
            row = Experiment.objects.create(
                name=name, seed=seed, full=full, folder=str(folder), started_by=by, of=trials_in_all
            )
    except IntegrityError as error:  # somebody else has started it this moment
        raise _run_already(name, seed) from error
    audit(actor, "experiment.start", row)
    return row


def _run_already(name: str, seed: int) -> InputError:
    return InputError("seed", seed, f"a seed that {name} has not been run with; what was stopped can be resumed")


def cancel(actor: Actor, row: Experiment) -> Experiment:
    """End it after the trial it is at. Raises InputError when it is over."""
    if Experiment.objects.filter(pk=row.pk, state=QUEUED).update(state=STOPPED, ended_at=timezone.now()):
        audit(actor, "experiment.cancel", row)
    elif Experiment.objects.filter(pk=row.pk, state=RUNNING).update(state=STOPPING):
        record.stop(Path(row.folder))
        audit(actor, "experiment.cancel", row)
    else:
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that waits or runs; this one is {row.state}")
    row.refresh_from_db()
    return row


def resume(actor: Actor, row: Experiment) -> Experiment:
    """Let one that was stopped or has failed go on where it was. Raises InputError for others."""
    changed = {"state": QUEUED, "reason": "", "restarts": 0, "ended_at": None}
    if not Experiment.objects.filter(pk=row.pk, state__in=(STOPPED, FAILED)).update(**changed):
        row.refresh_from_db()
        raise InputError("experiment", str(row), f"one that was stopped or has failed; this one is {row.state}")
    audit(actor, "experiment.resume", row)
    row.refresh_from_db()
    return row


def trials(row: Experiment) -> dict[str, dict[str, Any]]:
    """What its trials found, in their order; empty where its folder is gone."""
    return record.read_trials(Path(row.folder))


def base() -> Path:
    """The folder of the portal's experiments."""
    return Path(settings.KNOBS.home).resolve() / "experiments"


def tend() -> None:
    """Follow what runs, take note of what ended, start the next. May be called by any number of workers at once."""
    if not base().exists() and not Experiment.objects.filter(state=QUEUED).exists():
        return
    with _tending() as ours:
        if not ours:
            return
        active = alone.running(base())
        _adopt(active)
        for row in Experiment.objects.filter(state__in=OPEN):
            _follow(row, active)
        if active is None:
            _start_next()


@contextmanager
def _tending() -> Iterator[bool]:
    base().mkdir(parents=True, exist_ok=True)
    with (base() / "tending.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _adopt(active: Path | None) -> None:
    """Make rows of what was run from the command line; what it goes on with is running again."""
    if active is not None:
        over = Experiment.objects.filter(folder=str(active), state__in=(QUEUED, STOPPED, DONE, FAILED))
        over.update(state=RUNNING, ended_at=None, reason="")
    known = set(Experiment.objects.values_list("folder", flat=True))
    for file in base().glob("*/plan.json"):
        plan = record.read_json(file)
        folder = file.parent.resolve()
        if plan is None or str(folder) in known or not catalogue.is_plan(plan):
            continue
        began = datetime.fromtimestamp(file.stat().st_mtime, tz=timezone.get_current_timezone())
        row = Experiment(name=plan["name"], seed=plan["seed"], full=plan["full"], folder=str(folder), started_at=began)
        row.state, row.of = RUNNING, catalogue.count(row.name, row.seed, folder, full=row.full)
        row.save()
        _follow(row, active)


def _follow(row: Experiment, active: Path | None) -> None:
    """Bring a row up to what its folder says; `active` is the folder of what runs on this machine."""
    if row.state == QUEUED or _elsewhere(row):
        return
    _note_progress(row)
    if active == Path(row.folder):
        if row.state == STOPPING:
            record.stop(active)  # again: a child that has just begun forgets what was wanted before
        _update(row, host=socket.gethostname(), heartbeat=timezone.now())
        return
    _note_end(row)


def _elsewhere(row: Experiment) -> bool:
    """Whether another machine has it in hand and is not silent."""
    if row.host in ("", socket.gethostname()) or row.heartbeat is None:
        return False
    return timezone.now() - row.heartbeat < _SILENT


def _note_progress(row: Experiment) -> None:
    progress = record.read_json(Path(row.folder) / "progress.json") or {}
    done, of = _count(progress.get("done")), _count(progress.get("of")) or row.of
    now = str(progress.get("now", ""))[:200]
    if (done, of, now) == (row.done, row.of, row.now):
        return
    result = row.result
    if done != row.done or result is None:
        result = catalogue.summary(row.name, row.seed, Path(row.folder), trials(row), full=row.full)
    _update(row, done=done, of=of, now=now, result=result)


def _count(value: Any) -> int:
    """What the column can hold: one row that cannot be followed would hold up all others."""
    return value if type(value) is int and 0 <= value < 2**31 else 0


def _note_end(row: Experiment) -> None:
    """Its process is gone: it has ended, was stopped, gave up, or was killed and is taken up again."""
    folder = Path(row.folder)
    child = _children.pop(row.pk, None)
    code = child.wait() if child else None
    progress, result = (record.read_json(folder / name) or {} for name in ("progress.json", "result.json"))
    orderly = progress.get("now") == ""  # only who ends in order says that it is at no trial
    if orderly and result.get("complete"):
        _end(row, DONE, result=result, reason="")
    elif orderly or row.state == STOPPING or row.started_by_id is None:
        _end(row, STOPPED, reason="" if orderly else "It was ended in the middle of a trial.")
    elif code in (1, 2) or row.restarts >= _MOST_RESTARTS:
        _end(row, FAILED, reason=_last_words(folder))
    else:
        _update(row, state=QUEUED, restarts=row.restarts + 1)


def _end(row: Experiment, state: str, **more: Any) -> None:
    _update(row, state=state, ended_at=timezone.now(), now="", **more)


def _update(row: Experiment, **changed: Any) -> None:
    """Unless somebody has asked for something else meanwhile, which the next look then sees."""
    if Experiment.objects.filter(pk=row.pk, state=row.state).update(**changed):
        for name, value in changed.items():
            setattr(row, name, value)


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / _LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][:500] if lines else "Its process ended without a word."


def _start_next() -> None:
    row = Experiment.objects.filter(state=QUEUED).order_by("pk").first()
    if row is None:
        return
    folder = Path(row.folder)
    lock = alone.take(base(), folder)
    if lock is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _update(row, state=RUNNING, host=socket.gethostname(), heartbeat=timezone.now())
        _update(row, started_at=row.started_at or timezone.now())
        _children[row.pk] = _child(row, folder, lock)
    except (GridPortalError, OSError) as error:
        _end(row, FAILED, reason=f"It could not be started: {error}")
    finally:
        os.close(lock)  # the child has it now


def _child(row: Experiment, folder: Path, lock: int) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "gridportal", "experiment", row.name, "--seed", str(row.seed), "--out", str(folder)]
    env = {alone.VARIABLE: str(lock), "GRIDPORTAL_HOME": str(base().parent)}
    with (folder / _LOG).open("wb") as log:
        return shell.start(
            [*argv, *(["--full"] if row.full else []), "--json"],
            stdout=subprocess.DEVNULL,
            stderr=log.fileno(),
            env=env,
            keep=[lock],
        )
