"""Figures of an application's output as people type them, one on each line."""

from __future__ import annotations

import re

from gridportal.base.errors import InputError
from scheduling.jobs.core.output_patterns import OutputPatterns

FIGURE = "name = pattern, name (unit) = pattern or name (unit, first) = pattern"
_LINE = re.compile(r"(?P<name>[^=()]+?)\s*(?:\((?P<about>[^=()]*)\))?\s*=\s*(?P<pattern>\S.*)")


def figures(patterns: OutputPatterns) -> str:
    """
    >>> energy = {"name": "energy", "pattern": "E = (.*)", "unit": "eV", "which": "first"}
    >>> figures(OutputPatterns.read({"figures": [energy, {"name": "atoms", "pattern": "(.*) atoms"}]}))
    'energy (eV, first) = E = (.*)\\natoms = (.*) atoms'
    """
    lines = []
    for name, each in patterns.figures.items():
        about = ", ".join(filter(None, [each.unit, "first" if each.takes_first else ""]))
        lines.append(f"{name}{f' ({about})' if about else ''} = {each.pattern.text}")
    return "\n".join(lines)


def parse_figures(text: str) -> list[dict[str, str]]:
    """The figures as a document has them; their patterns are not checked. Raises InputError.

    >>> parse_figures("energy (eV) = Total Energy = (.*)")
    [{'name': 'energy', 'pattern': 'Total Energy = (.*)', 'unit': 'eV', 'which': 'last'}]
    """
    entries: list[dict[str, str]] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"figures[{len(entries)}]", line, FIGURE)
        about = [word.strip() for word in (match["about"] or "").split(",")]
        which = about.pop() if about[-1] in ("first", "last") else "last"
        unit = ", ".join(about)
        entries.append({"name": match["name"], "pattern": match["pattern"], "unit": unit, "which": which})
    return entries
