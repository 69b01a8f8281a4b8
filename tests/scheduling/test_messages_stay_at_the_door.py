"""Services and core decide on values: they make no sentence for people, and read none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "scheduling"
ROOMS = {"services", "core", "selectors"}
MODULES = sorted(path for path in ROOT.rglob("*.py") if ROOMS & {*path.relative_to(ROOT).with_suffix("").parts})
#: What holds a reason, or did hold words: whoever asks what is in it asks for its code and its facts.
PROSE = {"reason", "reasons", "finding", "explanation", "problem", "untried", "message", "sentence", "restarted"}
#: Ways to look into a text, or to take it apart.
READS = {
    *("startswith", "endswith", "partition", "rpartition", "split", "rsplit", "splitlines", "replace", "find"),
    *("index", "removeprefix", "removesuffix", "strip", "rstrip", "lstrip", "lower", "casefold", "count", "translate"),
}
#: Modules that make sentences all the same, and what those are: none of them is a job's reason, and nobody reads them.
EXCEPTIONS = {
    "selection/core/selection.py": "what an ImpossibleError says",
    "matching/core/sets/set_request.py": "what a MeaningError says",
    "runs/core/progress.py": "why a line of a program is passed over, for the portal's log",
    "runs/services/reading_progress.py": "why a line of a program is passed over, for the portal's log",
    "jobs/core/cluster_options.py": "why a node takes no jobs, as the sentences of monitoring about nodes",
    "maintenance/core/planned_times.py": "the same, of nodes that are maintained",
}
_SENTENCE = re.compile(r"^[A-Z{].*\w \w+.* \S+.*[.?!]$", re.DOTALL)


def test_the_modules_are_found() -> None:
    names = {str(path.relative_to(ROOT)) for path in MODULES}
    assert {
        "runs/services/running.py",
        "skeletons/core/skeleton/build.py",
        "placing/selectors/trial_stories.py",
    } <= names


@cache
def trees(capability: str) -> dict[str, ast.AST]:
    """Its modules by their names."""
    paths = [path for path in MODULES if path.relative_to(ROOT).parts[0] == capability]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


of_each = pytest.mark.parametrize("capability", sorted({path.relative_to(ROOT).parts[0] for path in MODULES}))


@of_each
def test_no_text_for_people_is_read(capability: str) -> None:
    assert {name: found for name, tree in trees(capability).items() if (found := list(readings(tree)))} == {}


@of_each
def test_no_sentence_is_made(capability: str) -> None:
    made = {name: found for name, tree in trees(capability).items() if (found := list(sentences(tree)))}
    assert set(made) == set(EXCEPTIONS) & set(trees(capability)), made


@pytest.mark.parametrize(
    "code",
    [
        'if status.reason == "The job was cancelled.": pass',
        'found = "limit" in run.job.reason',
        'found = job.reason.startswith("Needs")',
        'found = job.reason.code != "x" and plan.untried.replace("was", "would be")',
        'found = str(error).partition(";")',
        'found = re.search("limit", status.reason)',
        'rows.filter(reason__contains="limit")',
        'found = told["reason"].split()',
        "match job.reason:\n    case 'It waits.': pass",
    ],
)
def test_reading_is_noticed(code: str) -> None:
    assert list(readings(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "if status.cause is Code.CLEANING_UP: pass",
        "if job.reason.code is Code.TOO_FEW_FREE: pass",
        "if run.job.reason != reason: pass",
        'text = " ".join(reason_given.split())',
    ],
)
def test_values_are_no_words(code: str) -> None:
    assert not list(readings(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        'why = "It is tried again within seconds."',
        'why = f"Cancelled by {person} before it started."',
        'advance(job, state, reason=f"{error} Resubmit it with that changed.")',
        'WORDS = {"a": "The job has ended and its nodes are being cleaned up."}',
    ],
)
def test_a_sentence_is_noticed(code: str) -> None:
    assert list(sentences(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        '"""What this module is about, in a sentence."""',
        'log.info("job %s: it was submitted again.", job)',
        'raise BackendError("The cluster has no such queue.")',
        'FORMAT = "%Y-%m-%d"',
    ],
)
def test_docstrings_errors_and_logs_are_none(code: str) -> None:
    assert not list(sentences(ast.parse(code)))


def readings(tree: ast.AST) -> Iterator[str]:
    """Where text for people is compared, searched or taken apart: `line: what`."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Compare) and _compares(node)) or (isinstance(node, ast.Call) and _takes_apart(node)):
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Match) and _is_prose(node.subject):
            yield f"{node.lineno}: match {ast.unparse(node.subject)}"


def _compares(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    searched = [side for op, side in zip(node.ops, node.comparators, strict=True) if isinstance(op, ast.In | ast.NotIn)]
    with_text = any(isinstance(side, ast.JoinedStr) or _is_text(side) for side in sides)
    return any(map(_is_prose, searched)) or (with_text and any(map(_is_prose, sides)))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _takes_apart(node: ast.Call) -> bool:
    if any(re.fullmatch(r"\w*reason__\w+", keyword.arg or "") for keyword in node.keywords):
        return True
    if not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr in READS and _is_prose(node.func.value):
        return True
    return isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and any(map(_is_prose, node.args))


def _is_prose(node: ast.expr) -> bool:
    """A name, an attribute or a key that holds a reason; or an error as text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return any(isinstance(each, ast.Name) and each.id in ("error", "failure") for each in node.args)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value in PROSE
    return (isinstance(node, ast.Attribute) and node.attr in PROSE) or (isinstance(node, ast.Name) and node.id in PROSE)


def sentences(tree: ast.AST) -> Iterator[str]:
    """The texts that are sentences, but for docstrings and what is raised or logged: `line: text`."""
    apart = set(map(id, _left_out(tree)))
    for node in ast.walk(tree):
        if id(node) in apart or not (isinstance(node, ast.JoinedStr) or _is_text(node)):  # type: ignore[arg-type]
            continue
        text = _plain(node)
        if _SENTENCE.match(text):
            yield f"{node.lineno}: {text}"  # type: ignore[attr-defined]


def _plain(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.JoinedStr)
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def _left_out(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything below a docstring, a `raise`, a call of the log, the making of an error, and parts of f-strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Raise) or (isinstance(node, ast.Call) and _is_error_or_log(node)):
            kept = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            yield from () if kept else ast.walk(node)
        elif isinstance(node, ast.JoinedStr):
            yield from node.values


def _is_error_or_log(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute):
        return isinstance(node.func.value, ast.Name) and node.func.value.id == "log"
    return isinstance(node.func, ast.Name) and node.func.id.endswith("Error")
