"""One question to one plug-in, in a process of its own: what it does there costs nobody else anything.

`python -m scheduling.performance.adapters.plugin_process NAME` reads the question as JSON from standard input and
prints one JSON object: {"applies": false}, {"phases": [...]} or {"error": "..."}.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from gridportal.base.plugin_processes import error_text, limit_memory, load_plugin, without_output
from gridportal.network.topology import parse
from scheduling.performance.core.performance_model import ENTRY_POINTS


def answer_document(name: str, question: dict[str, Any]) -> dict[str, Any]:
    """What the plug-in says; an error of whatever kind is told in its own words."""
    try:
        with without_output():
            model = load_plugin(ENTRY_POINTS, name, "performance model")
            if not model.applies(question["application"]):
                return {"applies": False}
            phases = model.predict(question["parameters"], tuple(question["nodes"]), parse(question["network"]))
        return {"phases": [each.document() for each in phases]}
    except Exception as error:  # noqa: BLE001 (the boundary: a plug-in may raise anything)
        return {"error": error_text(error)}


if __name__ == "__main__":
    limit_memory()
    json.dump(answer_document(sys.argv[1], json.load(sys.stdin)), sys.stdout)
