"""Asking the network what flows would get together: the panel of the topology page and its answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from gridportal.base.errors import GridPortalError, InputError
from gridportal.network.flows import Flow
from gridportal.web.form_errors import by_label
from gridportal.web.templatetags.units import mbit_text
from monitoring.clusters import selectors as clusters_selectors
from monitoring.clusters.models import Cluster
from monitoring.status.core.remos import parse_flow, parse_window
from monitoring.status.selectors import remos_queries
from monitoring.status.views.facts import ORIGINS
from monitoring.telemetry.core.figures import FORECAST, NOW, When

MOST_FLOWS = 100
_MOST_NAMES = 500
WHEN_CHOICES = (
    ("now", "as last measured"),
    ("15m", "over the last 15 min"),
    ("1h", "over the last hour"),
    ("24h", "over the last 24 h"),
    ("forecast", "as forecast"),
)
#: The parts of a flow as the panel calls them.
_PARTS = {"source": "From", "target": "To", "demand": "Bandwidth", "weight": "Weight"}
_HELD = {"demand": "its own demand", "no path": "no path"}


@require_safe
def ask(request: HttpRequest) -> HttpResponse:
    """The answer to `?flows=` alone, for the panel; its address on the topology page is in a header."""
    name = request.GET.get("cluster", "") or clusters_selectors.default_cluster()
    cluster = clusters_selectors.cluster(name)
    if cluster is None:
        raise Http404(f"No cluster is called {name[:60]}.")
    response = render(request, "monitoring/_flows_answer.html", panel(request, cluster))
    asked = {"cluster": cluster.name, "flows": request.GET.get("flows", ""), "when": request.GET.get("when", "")}
    response["HX-Replace-Url"] = f"{reverse('topology')}?{urlencode({k: v for k, v in asked.items() if v})}#ask"
    return response


def panel(request: HttpRequest, cluster: Cluster) -> dict[str, Any]:
    """What the panel shows: its fields, and the answer where flows are in the address."""
    text, when = request.GET.get("flows", "").strip(), request.GET.get("when", "now")
    names = clusters_selectors.compute_names(cluster.name)
    found: dict[str, Any] = {
        "asked": text,
        "asked_when": when,
        "when_choices": WHEN_CHOICES,
        "flow_names": names[:_MOST_NAMES],
        "example": f"{names[0]}>{names[1]}" if len(names) > 1 else "",
    }
    if not text:
        return found
    try:
        answer = remos_queries.flows(cluster.name, parsed(text), when=moment(when))
    except GridPortalError as error:
        return found | {"ask_error": by_label(error, _labels(text))}
    return found | {"answer": [_row(flow) for flow in answer["flows"]], "ask_finding": finding(answer["flows"])}


def parsed(text: str) -> list[Flow]:
    """Flows with blanks or commas between. Raises InputError."""
    texts = [word for word in re.split(r"[\s,]+", text) if word]
    if not 1 <= len(texts) <= MOST_FLOWS:
        raise InputError("flows", f"{len(texts)} flows", f"1 to {MOST_FLOWS} flows such as n1>n3, blanks between")
    return [parse_flow(word) for word in texts]


def _labels(text: str) -> dict[str, str]:
    """How the panel calls what a refusal names."""
    numbers = range(len(re.split(r"[\s,]+", text)))
    parts = {f"flows[{at}].{part}": f"{word} of flow {at + 1}" for at in numbers for part, word in _PARTS.items()}
    return {"flows": "Flows", "window": "When", **parts}


def moment(text: str) -> When:
    """now, forecast, or a past window such as 1h. Raises InputError."""
    by_name = {"now": NOW, "": NOW, "forecast": FORECAST}
    return by_name[text] if text in by_name else parse_window(text)


def finding(flows: list[dict[str, Any]]) -> str:
    """One sentence: the slowest flow and what holds it."""
    worst = min(flows, key=lambda flow: flow["bandwidth"])
    name = f"{worst['source']} to {worst['target']}"
    if worst["held_by"] == "no path":
        return f"No path leads from {name}."
    held = worst["binding"]
    why = f"limited by {held['source']}–{held['target']}" if held else "as much as it wants"
    if len(flows) == 1:
        return f"{name} would get {mbit_text(worst['bandwidth'])} Mbit/s, {why}."
    total = mbit_text(sum(flow["bandwidth"] for flow in flows))
    return (
        f"Together the {len(flows)} flows would get {total} Mbit/s; "
        f"the slowest is {name} with {mbit_text(worst['bandwidth'])}, {why}."
    )


def _row(flow: dict[str, Any]) -> dict[str, Any]:
    at = flow["measured_at"]
    return {
        **flow,
        "held_label": _HELD.get(flow["held_by"], ""),
        "at": datetime.fromtimestamp(at, UTC) if at is not None else None,
        "origin_labels": ", ".join(ORIGINS.get(origin, origin) for origin in flow["origins"]),
    }
