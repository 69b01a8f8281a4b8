"""The container files as values: the Dockerfile's instructions and the compose file with its variables filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gridportal.base.portal_settings import BASE_DIR

COMPOSE = BASE_DIR / "docker" / "compose.yml"
PEOPLE = BASE_DIR / "docker" / "compose.people.yml"
DOCKERFILE = BASE_DIR / "docker" / "Dockerfile"
_VARIABLE = re.compile(r"\$\{(\w+)(?:(:?[-?])([^}]*))?\}")


def instructions() -> list[tuple[str, str]]:
    """(INSTRUCTION, its text) in order; continued lines are joined, comments left out."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def variables() -> set[str]:
    """Names of all variables that the compose files read."""
    return {name for file in (COMPOSE, PEOPLE) for name, _, _ in _VARIABLE.findall(file.read_text())}


def compose(env: Mapping[str, str], file: Path = COMPOSE) -> dict[str, Any]:
    """A compose file as docker would read it with `env`. Raises KeyError for a variable that must be set."""

    def fill(match: re.Match[str]) -> str:
        name, kind, other = match.groups()
        value = env.get(name)
        if value is None or (value == "" and kind and kind.startswith(":")):
            if kind and kind.endswith("-"):
                return other
            raise KeyError(name)
        return value

    document: dict[str, Any] = yaml.safe_load(_VARIABLE.sub(fill, file.read_text()))
    return document
