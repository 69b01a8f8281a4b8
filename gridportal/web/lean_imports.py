"""What libraries import only for those who have it, and the portal has no use for: it is not imported.

Each process of a portal would else spend a seventh of its start on a client for HTTP, the driver of PostgreSQL and a
second language of templates. Whoever does use one of them imports it as ever.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

#: By module what it tries to import and does without where it is not installed.
WITHOUT = {
    "rest_framework.compat": ("django.contrib.postgres", "requests", "pygments"),
    "django.test.utils": ("jinja2",),
}


class _Lean(MetaPathFinder):
    """Finds the modules of WITHOUT; they see that the others are not there."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in WITHOUT else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def without(module: ModuleType) -> None:
            with _absent(*WITHOUT[name]):
                execute(module)

        spec.loader.exec_module = without  # type: ignore[method-assign]
        return spec


@contextmanager
def _absent(*names: str) -> Iterator[None]:
    """Names that are imported by now stay; of the others each is as if it were not installed."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is how Python marks it
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def begin() -> None:
    """From here on; once is enough."""
    if not any(isinstance(finder, _Lean) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Lean())
