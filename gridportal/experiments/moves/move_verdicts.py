"""Which decisions were right: the run that was moved against the one that stayed, for both kinds of cost.

With the predicted cost the portal decided itself. What it would have decided with the worst case is read from the run
that stayed: its decisions have both costs, and one gain above the threshold would have moved the job. Times that differ
by less than `EQUAL` of the longer one are equal, and either decision is right. Of a run that stayed and was ended early
(`cut`) the time is the least that it would have taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

EQUAL = 0.05
MOVE, STAY = "move", "stay"
KINDS = ("worst-case", "predicted")

Runs = Mapping[str, Mapping[str, Mapping[str, Any] | None]]


def outcomes(runs: Runs) -> dict[str, Any]:
    """cases, wrong, details, unjudged (why a case that ran both ways has no verdict), better (a share, where the portal
    moved; the least where runs were ended early, `cut` of them), spread (of times of moved runs around their mean);
    null where nothing is known."""
    pairs = {name: pair for name, each in runs.items() if (pair := _pair(each)) is not None}
    cases = [_case(name, kind, *pair) for name, pair in pairs.items() for kind in KINDS]
    moved = [pair for pair in pairs.values() if pair[2] == MOVE]
    return {
        "cases": cases,
        "wrong": {kind: _wrong(cases, kind) for kind in KINDS},
        "unjudged": {name: why for name, each in runs.items() if (why := _unjudged(each))},
        "details": {name: _details(*pair) for name, pair in pairs.items()},
        "better": fmean(1 - move["seconds"] / stay["seconds"] for stay, move, _ in moved) if moved else None,
        "cut": sum(bool(stay.get("cut")) for stay, _, _ in pairs.values()),
        "spread": _spread([move["seconds"] for _, move, _ in moved]),
    }


_Pair = tuple[Mapping[str, Any], Mapping[str, Any], str]


def _pair(each: Mapping[str, Mapping[str, Any] | None]) -> _Pair | None:
    """The run that stayed, the one that was moved, and what the portal did; None until both are known, and where no
    move could be forced, because the program was over first."""
    portal, opposite = each.get("portal"), each.get("opposite")
    if portal is None or opposite is None or portal["moved"] == opposite["moved"]:
        return None
    return (opposite, portal, MOVE) if portal["moved"] else (portal, opposite, STAY)


def _unjudged(each: Mapping[str, Mapping[str, Any] | None]) -> str:
    """Why the opposite is none although both runs ended: what an operator who wanted the move heard last."""
    portal, opposite = each.get("portal"), each.get("opposite")
    if portal is None or opposite is None or portal["moved"] != opposite["moved"]:
        return ""
    if opposite["moved"]:
        return "The job was moved although the portal was only to watch."
    told = [refusal["why"] for refusal in opposite.get("refusals", ())]
    told += [decision["why"] for decision in opposite["decisions"] if decision["state"] == "failed"]
    return told[-1] if told else "The job was over before an operator could move it."


def _case(name: str, kind: str, stay: Mapping[str, Any], move: Mapping[str, Any], did: str) -> dict[str, Any]:
    decided = did if kind == "predicted" else _by_cost(stay, kind)
    return {
        "case": name,
        "cost": kind,
        "decided": decided,
        "right": _is_right(decided, stay["seconds"], move["seconds"]),
        "stay_seconds": stay["seconds"],
        "stay_cut": bool(stay.get("cut")),
        "move_seconds": move["seconds"],
    }


def _by_cost(stay: Mapping[str, Any], kind: str) -> str:
    gains = [(each["gains"][kind], each["threshold"]) for each in stay["decisions"]]
    return MOVE if any(gain is not None and gain > threshold for gain, threshold in gains) else STAY


def _is_right(decided: str, stay: float, move: float) -> bool:
    if abs(stay - move) <= EQUAL * max(stay, move):
        return True
    return decided == (MOVE if move < stay else STAY)


def _wrong(cases: list[dict[str, Any]], kind: str) -> int | None:
    known = [case for case in cases if case["cost"] == kind]
    return sum(not case["right"] for case in known) if known else None


def _details(stay: Mapping[str, Any], move: Mapping[str, Any], did: str) -> dict[str, Any]:
    """Of the move: what it cost by phase, what was predicted, and when; seconds."""
    made = move["moves"][-1]
    weighed = [each for each in move["decisions"] if each["state"] in ("moved", "verified")]
    decision = weighed[-1] if weighed else None
    return {
        "decided": did,
        "loaded": move["loaded"],
        "called": min((each["at"] for each in move["calls"]), default=None),
        "nodes": move["jobs"][-1]["runs"][-1]["nodes"],
        "cost": made["total"],
        "predicted_cost": decision["costs"]["predicted"] if decision else None,
        "reading": made["reading"],
        "predicted_reading": decision["phases"]["predicted"].get("redistribution") if decision else None,
        "gain": decision["gains"]["predicted"] if decision else None,
        "others": [job["seconds"] for job in move["jobs"][:-1]],
    }


def _spread(seconds: list[float]) -> float | None:
    """The largest distance from the mean, as a share of it."""
    return max(abs(each / fmean(seconds) - 1) for each in seconds) if len(seconds) > 1 else None
