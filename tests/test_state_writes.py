"""Nobody writes a state but `advance`, in any package; and every row that has a state has a table of its steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.db.models import CheckConstraint, Model

from gridportal.base.lifecycle import Lifecycle

ROOT = Path(__file__).parents[1]
PACKAGES = ("gridportal", "monitoring", "scheduling")
#: The only ones that write states: one row, and many rows that were checked by the same tables.
WRITERS = {
    "scheduling/jobs/services/advance.py",
    "scheduling/runs/services/ending_together.py",
    "scheduling/runs/services/steps.py",
}
#: They have a column of this name, and no life: sums of jobs, a row for each state.
NO_LIFE = {"scheduling.DailyUse"}
#: Calls whose arguments name columns that are written.
_BY_NAME = {"bulk_update", "save", "asave", "abulk_update"}
_BY_KEYWORD = {"update", "aupdate", "update_or_create", "aupdate_or_create"}


def test_states_are_written_by_advance_alone() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts]
    found = {f"{path.relative_to(ROOT)}:{line}" for path in files for line in written(path.read_text("utf-8"))}
    assert {place for place in found if place.split(":")[0] not in WRITERS} == set()


@pytest.mark.parametrize(
    "model",
    [model for model in apps.get_models() if "state" in vars(model) and model._meta.label not in NO_LIFE],
    ids=lambda model: model._meta.label,
)
def test_every_row_with_a_state_has_a_table_of_steps_and_the_database_knows_its_states(model: type[Model]) -> None:
    life = getattr(model, "life", None)
    assert isinstance(life, Lifecycle)
    field = model._meta.get_field("state")
    states = {state.value for state in life.steps}
    assert {value for value, _ in field.choices or ()} == states
    checks = [each.condition for each in model._meta.constraints if isinstance(each, CheckConstraint)]
    accepted = [set(values) for check in checks for name, values in check.children if name == "state__in"]
    assert accepted == [states]


@pytest.mark.parametrize(
    "line",
    [
        "rows.filter(pk=1).update(state='failed')",
        "rows.update(reason=why, **{'state': 'failed'})",
        "rows.update_or_create(pk=1, defaults={'state': 'failed'})",
        "rows.bulk_update(jobs, ['reason', 'state'])",
        "job.save(update_fields=('state',))",
        "job.state = 'failed'",
        "job.reason, job.state = why, 'failed'",
        "setattr(job, 'state', 'failed')",
    ],
)
def test_each_way_to_write_a_state_is_seen(line: str) -> None:
    assert list(written(line)) == [1]


@pytest.mark.parametrize("line", ["self.state = 1", "found.update(status='failed')", "{'state': job.state}"])
def test_other_things_are_left_alone(line: str) -> None:
    assert list(written(line)) == []


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
    if isinstance(call.func, ast.Name):
        return call.func.id == "setattr" and _is_word(call.args[1])
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in _BY_KEYWORD:
        return any(keyword.arg == "state" or _has_state(keyword.value) for keyword in call.keywords)
    return call.func.attr in _BY_NAME and any(
        _is_word(item)
        for value in (*call.args, *(keyword.value for keyword in call.keywords))
        if isinstance(value, ast.List | ast.Tuple | ast.Set)
        for item in value.elts
    )


def _has_state(value: ast.expr) -> bool:
    return isinstance(value, ast.Dict) and any(key is not None and _is_word(key) for key in value.keys)


def _is_word(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == "state"
