"""Steps of rows: who is faster takes them, and nobody writes a state in any other way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scheduling
from gridportal.base.reasons import text_reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import advance

ROOT = Path(scheduling.__file__).parent
#: The only ones that write states: one row, and many rows that were checked by the same tables.
WRITERS = {"jobs/services/advance.py", "runs/services/ending_together.py", "runs/services/steps.py"}


def test_a_step_is_taken_from_one_of_the_expected_states(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "queued")
    stale = Job.objects.get(pk=job.pk)
    assert advance(job, JobState.PLACING, reason=text_reason("first"))
    assert not advance(stale, JobState.FAILED, reason=text_reason("second"))
    assert advance(stale, JobState.FAILED, expected=(JobState.QUEUED, JobState.PLACING), reason=text_reason("third"))
    event = job.events.last()
    assert event is not None
    assert (event.from_state, event.to_state) == ("placing", "failed")


def test_a_step_under_a_lease_that_somebody_else_has_writes_nothing(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "queued")
    Job.objects.filter(pk=job.pk).update(lease_holder="another")
    before = JobEvent.objects.count()
    assert not advance(job, JobState.PLACING, holder="mine", reason=text_reason("late"))
    job.refresh_from_db()
    assert (job.state, JobEvent.objects.count()) == ("queued", before)


def test_no_event_no_step(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(people["user"], "queued")

    def broken(*_args: object, **_named: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(JobEvent, "save", broken)
    with pytest.raises(OSError, match="disk full"):
        advance(job, JobState.PLACING, reason=text_reason("why"))
    assert (job.state, Job.objects.get(pk=job.pk).state) == ("queued", "queued")


def test_states_are_written_by_advance_alone() -> None:
    files = [path for path in ROOT.rglob("*.py") if "migrations" not in path.parts]
    found = {f"{path.relative_to(ROOT)}:{line}" for path in files for line in written(path.read_text())}
    assert {place for place in found if place.split(":")[0] not in WRITERS} == set()


@pytest.mark.parametrize(
    "line",
    [
        "rows.filter(pk=1).update(state='failed')",
        "rows.update(reason=why, **{'state': 'failed'})",
        "job.state = 'failed'",
        "setattr(job, 'state', 'failed')",
    ],
)
def test_each_way_to_write_a_state_is_seen(line: str) -> None:
    assert list(written(line)) == [1]


def written(source: str) -> Iterator[int]:
    """The lines that write a column `state`, but for an object's own attribute."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(_is_state(target) for target in targets):
                yield node.lineno
        elif isinstance(node, ast.Call) and _writes(node):
            yield node.lineno


def _is_state(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return any(_is_state(each) for each in target.elts)
    own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    return isinstance(target, ast.Attribute) and target.attr == "state" and not own


def _writes(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        return any(keyword.arg == "state" or _has_state(keyword.value) for keyword in call.keywords)
    is_setattr = isinstance(call.func, ast.Name) and call.func.id == "setattr"
    return is_setattr and isinstance(call.args[1], ast.Constant) and call.args[1].value == "state"


def _has_state(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) and any(isinstance(k, ast.Constant) and k.value == "state" for k in value.keys)
