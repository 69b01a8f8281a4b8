"""The files of a run directory are named in one module: nobody else in the tree spells them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base import run_files
from gridportal.runtime import trace

ROOT = Path(__file__).parents[3]
MODULES = sorted(
    path
    for folder in ("gridportal", "monitoring", "scheduling")
    for path in (ROOT / folder).rglob("*.py")
    if "migrations" not in path.parts and path != Path(run_files.__file__)
)
NAMES = {name: value for name, value in vars(run_files).items() if name.isupper() and isinstance(value, str)}
#: Words of many meanings: they name a file only as a part of a path.
SHARED = {run_files.HOSTS, run_files.PROGRAM, run_files.TRACE, run_files.TRACE_COPIES}
_ANYWHERE = re.compile(
    "|".join(re.escape(name) for name in NAMES.values() if name not in SHARED) + r"|\brank-\d+\.json"
)
_IN_A_PATH = re.compile(r"(^|[\w}.])/(" + "|".join(sorted(SHARED)) + r")(/|$)")
#: Folders that have such a file and are no run directory.
EXCEPTIONS = {
    "gridportal/testbed/state.py": "the file of names that all nodes of a Grid see as /etc/hosts",
    "scheduling/profiles/commands/recording.py": "the folder of built recording libraries",
}
RUNTIME = [path for path in MODULES if path.is_relative_to(ROOT / "gridportal/runtime")]
WORKLOADS = [path for path in MODULES if path.is_relative_to(ROOT / "gridportal/workloads")]


def spellings(tree: ast.AST) -> Iterator[str]:
    """What names a file of a run directory in a module, but for its docstrings."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            if _ANYWHERE.search(node.value) or (_IN_A_PATH.search(node.value) and "/etc/" not in node.value):
                yield node.value
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_shared(node.right):
            yield ast.unparse(node.right)


def _is_shared(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in SHARED


def test_no_other_module_spells_a_name() -> None:
    found = {str(path.relative_to(ROOT)): list(spellings(ast.parse(path.read_text("utf-8")))) for path in MODULES}
    assert len(found) > 300
    assert {path for path, names in found.items() if names} == set(EXCEPTIONS)


@pytest.mark.parametrize(
    "code",
    [
        'open(folder / "progress.jsonl")',
        'path = f"{run_dir}/hosts"',
        'path = folder / "hosts"',
        'read(f"{folder}/trace/{name}")',
        'script = "rm -f exit.json.part"',
        'help = "Where the ranks wrote rank-0.json"',
        'environment = {"GRIDPORTAL_RUN_DIR": folder}',
    ],
)
def test_a_name_that_is_spelled_again_is_found(code: str) -> None:
    assert list(spellings(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ['"""Reads progress.jsonl."""', 'row["hosts"]', 'mount(hosts, "/etc/hosts")', '"trace"']
)
def test_other_uses_of_the_words_are_not(code: str) -> None:
    assert list(spellings(ast.parse(code))) == []


def test_every_name_is_one_of_its_own() -> None:
    assert len(set(NAMES.values())) == len(NAMES)


def test_the_recording_library_writes_the_files_that_the_portal_reads() -> None:
    source = Path(trace.__file__).with_name("file.c").read_text(encoding="utf-8")
    assert f'"%s/{run_files.TRACE_RANK.format(rank="%d")}"' in source


def test_what_runs_on_a_node_imports_plain_modules_alone() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (*RUNTIME, *WORKLOADS)]
    assert {name for tree in trees for name in of_the_portal(tree)} == {
        *("atomic_file", "available_cpu", "bounded_json", "checked_numbers", "compiled_c", "errors", "job_files"),
        *("processes", "run_files", "work_shares"),
    }


def of_the_portal(tree: ast.AST) -> Iterator[str]:
    """The modules that are imported of gridportal, but for those of runtime and workloads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gridportal"):
            *_, last = node.module.split(".")
            if node.module == "gridportal.base":
                yield from (name.name for name in node.names)
            elif not node.module.startswith(("gridportal.runtime", "gridportal.workloads")):
                yield last
