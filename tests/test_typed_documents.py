"""`dict[str, Any]` stands only where JSON comes in or goes out, or Django or Plotly takes it; all else has types.

Allowed is what a function named `document`, or `..._document`, writes. Everything else is in the list below with its
reason; the list can only get shorter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"core", "services", "selectors", "views", "charts", "adapters", "commands"}
MODULES = sorted(
    path
    for package in ("scheduling", "monitoring", "gridportal/experiments")
    for path in (ROOT / package).rglob("*.py")
    if ROOMS & {*path.relative_to(ROOT).with_suffix("").parts}
)
_COLUMNS = "columns of a row, as Django takes them"
_CONTEXT = "the context of a template, or a part of one"
_PLOTLY = "a part of a chart, as Plotly takes it"
_GRID = "an answer of the Grid, which comes in as JSON"
_AGENT = "an answer of an agent, which comes in as JSON"
_PRINTED = "a document that is printed as JSON or as a table"
#: How often it stands in a module all the same, and why.
EXCEPTIONS = {
    "gridportal/experiments/charts.py": (3, _PLOTLY),
    "gridportal/experiments/commands.py": (1, _PRINTED),
    "gridportal/experiments/selectors.py": (1, "what a trial measured is read from the JSON of its record"),
    "gridportal/experiments/views.py": (3, _CONTEXT),
    "monitoring/history/charts/history.py": (9, _PLOTLY),
    "monitoring/status/charts/matrix.py": (3, _PLOTLY),
    "monitoring/status/charts/network_map.py": (9, _PLOTLY),
    "monitoring/status/commands/network_tables.py": (6, _PRINTED),
    "monitoring/status/commands/telemetry.py": (1, _PRINTED),
    "monitoring/status/selectors/remos_queries.py": (1, "the answer to a flow query goes out as it is"),
    "monitoring/status/views/facts.py": (2, "the facts that a map shows of a place, which go out as JSON"),
    "monitoring/status/views/flows.py": (5, _CONTEXT),
    "monitoring/status/views/panels.py": (2, _CONTEXT),
    "monitoring/status/views/topology.py": (3, _CONTEXT),
    "monitoring/telemetry/adapters/agent_probes.py": (4, _AGENT),
    "monitoring/telemetry/adapters/grid.py": (7, _GRID),
    "monitoring/telemetry/adapters/slurm.py": (1, _COLUMNS),
    "monitoring/telemetry/commands/agent.py": (2, _PRINTED),
    "scheduling/contracts/charts/contract_chart.py": (3, _PLOTLY),
    "scheduling/contracts/services/judging.py": (1, _COLUMNS),
    "scheduling/jobs/services/advance.py": (1, _COLUMNS),
    "scheduling/jobs/services/job_spec.py": (2, _COLUMNS),
    "scheduling/pages/charts/compared_runs.py": (5, _PLOTLY),
    "scheduling/pages/charts/phases.py": (2, _PLOTLY),
    "scheduling/pages/charts/scaling_curve.py": (1, _PLOTLY),
    "scheduling/pages/charts/sweep_chart.py": (4, _PLOTLY),
    "scheduling/notices/core/letter.py": (2, "the JSON that a webhook is sent"),
    "scheduling/notices/views.py": (2, _CONTEXT),
    "scheduling/pages/views/applications.py": (2, _CONTEXT),
    "scheduling/pages/views/cluster_pages.py": (2, _CONTEXT),
    "scheduling/pages/views/compare.py": (2, _CONTEXT),
    "scheduling/pages/views/job_group.py": (1, _CONTEXT),
    "scheduling/pages/views/profiles.py": (2, _CONTEXT),
    "scheduling/pages/views/story.py": (8, _CONTEXT),
    "scheduling/pages/views/submit.py": (6, _CONTEXT),
    "scheduling/placing/services/taking.py": (2, _COLUMNS),
    "scheduling/profiles/adapters/traffic_watch.py": (1, _GRID),
    "scheduling/profiles/charts/profile_pictures.py": (2, _PLOTLY),
    "scheduling/projects/views.py": (1, _CONTEXT),
    "scheduling/reports/charts/report_chart.py": (4, _PLOTLY),
    "scheduling/reports/views/range_reports.py": (2, _CONTEXT),
    "scheduling/rescheduling/charts/both_places.py": (1, _PLOTLY),
    "scheduling/rescheduling/charts/calibration.py": (1, _PLOTLY),
    "scheduling/rescheduling/charts/cost_bars.py": (3, _PLOTLY),
    "scheduling/rescheduling/charts/ratio_chart.py": (3, _PLOTLY),
    "scheduling/rescheduling/commands/move_tables.py": (4, _PRINTED),
    "scheduling/rescheduling/services/job_elsewhere.py": (1, _COLUMNS),
    "scheduling/rescheduling/services/named_nodes.py": (1, _COLUMNS),
    "scheduling/rescheduling/views/decision_story.py": (6, _CONTEXT),
    "scheduling/rescheduling/views/decisions.py": (1, _CONTEXT),
    "scheduling/rescheduling/views/dry_run_page.py": (1, _CONTEXT),
    "scheduling/rescheduling/views/move_lists.py": (1, _CONTEXT),
    "scheduling/resource_requests/views.py": (3, _CONTEXT),
    "scheduling/runs/adapters/grid.py": (2, _GRID),
    "scheduling/runs/services/ending.py": (2, _COLUMNS),
    "scheduling/runs/services/ending_together.py": (2, _COLUMNS),
    "scheduling/runs/services/ordinary_run.py": (2, _COLUMNS),
    "scheduling/runs/services/reading_progress.py": (3, _COLUMNS),
    "scheduling/skeletons/adapters/skeleton_runs.py": (6, "what a skeleton found, which comes in as JSON"),
    "scheduling/skeletons/charts/predicted_times.py": (1, _PLOTLY),
    "scheduling/skeletons/commands/skeleton.py": (2, _PRINTED),
    "scheduling/skeletons/services/trial_runs.py": (1, _COLUMNS),
    "scheduling/usage/selectors.py": (2, "the type that Django gives to rows of values()"),
}


def untyped(tree: ast.AST) -> Iterator[int]:
    """The lines of a module with `dict[str, Any]`, but for those of functions that write a document."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and (node.name == "document" or node.name.endswith("_document")):
            continue
        if isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]":
            yield node.lineno
        else:
            yield from untyped(node)


@pytest.mark.parametrize("capability", sorted({path.relative_to(ROOT).parts[:2] for path in MODULES}), ids="/".join)
def test_only_documents_have_no_types(capability: tuple[str, str]) -> None:
    for path in MODULES:
        if path.relative_to(ROOT).parts[:2] != capability:
            continue
        name = str(path.relative_to(ROOT))
        lines = list(untyped(ast.parse(path.read_text(encoding="utf-8"))))
        most, why = EXCEPTIONS.get(name, (0, "it is no exception"))
        assert len(lines) <= most, f"{name} has dict[str, Any] in the lines {lines}: {most} allowed, since {why}"
        assert len(lines) == most, f"{name} has fewer than its exception says: make that {len(lines)}"


def test_the_modules_are_found_and_exceptions_are_of_them() -> None:
    names = {str(path.relative_to(ROOT)) for path in MODULES}
    assert {"scheduling/jobs/core/candidates.py", "monitoring/clusters/selectors.py"} <= names
    assert set(EXCEPTIONS) <= names


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("def read(sent: dict[str, Any]) -> None: ...", [1]),
        ("class Row:\n    def document(self) -> dict[str, Any]:\n        found: dict[str, Any] = {}", []),
        ("def as_document() -> dict[str, Any]: ...\nrows: list[dict[str, Any]] = []", [2]),
        ("def read(sent: Mapping[str, object]) -> dict[str, int]: ...", []),
    ],
)
def test_the_rule_itself(code: str, lines: list[int]) -> None:
    assert list(untyped(ast.parse(code))) == lines
