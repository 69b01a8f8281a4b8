"""Public names say what they hold, in words that other projects use too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# What is not to be in a public name any more, and what to write for it.
OLD = {
    "ahead": "forecast",
    "alone": "exclusive, poll_lock",
    "crossing": "crossings, pareto_sweep",
    "doors": "gateways",
    "doubles": "duplicates",
    "eyes": "telemetry_probe",
    "filling": "max_min",
    "foreseen": "forecast",
    "foresight": "start_estimate, forecast",
    "foretold": "predicted",
    "found": "what it is that was found",
    "hurry": "expedite",
    "knob": "setting",
    "knobs": "settings",
    "known": "what it is that is known",
    "laboratory": "test_grid",
    "mend": "repair, restart_dead",
    "moments": "timestamps",
    "news": "what is new",
    "quickest": "busiest_rank_time",
    "said": "message, summary",
    "sentences": "messages",
    "sight": "snapshot",
    "told": "message, summary",
    "trouble": "error_messages",
    "wishes": "requirements, settings",
    "words": "messages, argv",
}


def public_names(tree: ast.Module) -> Iterator[str]:
    """Module-level names, attributes and methods of public classes, and parameters of what is public."""
    for node in tree.body:
        yield from _assigned(node)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name
            for member in node.body:
                if not _is_rest_field(member):
                    yield from _assigned(member)
                yield from _function(member)
        yield from _function(node)


def _assigned(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name) and not target.id.startswith("_"))


def _is_rest_field(node: ast.stmt) -> bool:
    """Whether it declares a field of a serializer, whose name is public in REST."""
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith("serializers.")


def _function(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
        yield node.name
        yield from (each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))


def words_of(name: str) -> set[str]:
    """The words of a name.

    >>> sorted(words_of("PlacementSnapshot") | words_of("MOST_SEEN"))
    ['most', 'placement', 'seen', 'snapshot']
    """
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


def old_names() -> dict[str, list[str]]:
    """The public names of each module in which an old word stands."""
    old = {}
    for app in ("gridportal", "monitoring", "scheduling"):
        for module in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in module.parts:
                names = {module.stem, *public_names(ast.parse(module.read_text(encoding="utf-8")))}
                if found := sorted(name for name in names if words_of(name) & OLD.keys()):
                    old[module.relative_to(ROOT).as_posix()] = found
    return old


def test_no_public_name_has_an_old_word() -> None:
    assert old_names() == {}, OLD


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("SIGHT = 1", ["SIGHT"]),
        ("def see(found, *, told=1): known = 2", ["see", "found", "told"]),
        ("class Sight:\n    words: str\n    def told(self): ...", ["Sight", "words", "told", "self"]),
        ("class Asked:\n    ahead = serializers.CharField()", ["Asked"]),
        ("def _own(found): ...\nclass _C:\n    words = 1", []),
    ],
)
def test_what_is_public_is_seen(code: str, names: list[str]) -> None:
    assert list(public_names(ast.parse(code))) == names
