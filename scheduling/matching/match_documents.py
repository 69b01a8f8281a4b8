"""Answers for programs: JSON, and XML as Set matching 2002, 3.3 has it, well-formed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

import msgspec

from scheduling.matching.core.answers import ClauseReport, MatchAnswer
from scheduling.matching.core.sets.set_matching import gap_percent
from scheduling.matching.match_messages import change_message, notice_message, refusal_message

#: States of requests whose wait ended before they were answered; the answer is the last that was tried.
_ENDED_EARLY = ("cancelled", "expired")


def document(answer: MatchAnswer) -> dict[str, Any]:
    """The answer as JSON. `share` is null without a mapper; `explanation` and `mapper` are there where there is one."""
    made: dict[str, Any] = {
        "status": {"code": int(answer.status), "message": refusal_message(answer)},
        "machines": [{"dns": m.dns, "processors": m.processors, "share": number(m.share)} for m in answer.machines],
        "rank": answer.rank,
        "exact": answer.exact,
        "bound": answer.bound,
        "gap_percent": gap_percent(answer.rank, answer.bound),
        "method": answer.method.value,
        "greedy_rank": answer.greedy_rank,
        "warnings": [notice_message(notice) for notice in answer.notices],
        "seconds": round(answer.seconds, 6),
        "pool": answer.pool,
        "passing": answer.passing,
    }
    if answer.mapper is not None:
        made["mapper"] = msgspec.to_builtins(answer.mapper)
    if answer.explanation is not None:
        made["explanation"] = explanation_document(answer)
    return made


def explanation_document(answer: MatchAnswer) -> dict[str, Any]:
    """Why, as JSON, with the smallest change in a sentence; empty where nobody asked."""
    if answer.explanation is None:
        return {}
    made: dict[str, Any] = msgspec.to_builtins(answer.explanation)
    clauses = [_clause(report, is_matched=bool(answer.machines)) for report in answer.explanation.clauses]
    return made | {"clauses": clauses, "change": change_message(answer.explanation)}


def _clause(report: ClauseReport, *, is_matched: bool) -> dict[str, Any]:
    """Of one about each resource how many resources pass it, of one about the set whether some set does; null for what
    is of the other kind, and for what was not looked at because there is a set."""
    made: dict[str, Any] = msgspec.to_builtins(report)
    is_set = made.pop("is_collective")
    return made | {
        "kind": "set" if is_set else "resource",
        "passing": None if is_set else report.passing,
        "left_without": None if is_set else report.left_without,
        "satisfiable": bool(report.passing) if is_set else None,
        "matches_without": bool(report.left_without) if is_set and not is_matched else None,
    }


def xml(answer: MatchAnswer) -> str:
    """A virtualMachine with the result and its machineList; x is a machine's share of the work."""
    machines = [(machine.dns, machine.processors, number(machine.share)) for machine in answer.machines]
    return _virtual_machine(int(answer.status), refusal_message(answer), machines)


def document_xml(document: Mapping[str, Any], code: int) -> str:
    """The same of a request's document in the API: of its answer, of one that has none yet (202), or of a refusal with
    the status `code`."""
    answer = document.get("answer")
    if "state" in document and document.get("ended_at") is None:
        return _virtual_machine(202, str(document["state"]), [])
    if not answer:
        faults = [fault["message"] for fault in document.get("errors", [])]
        reasons = (*faults, *(document.get(name) for name in ("reason", "state", "detail")), dict(document))
        reason = next(each for each in reasons if each)
        return _virtual_machine(code if "state" not in document else 404, str(reason), [])
    machines = [(each["dns"], each["processors"], each["share"]) for each in answer["machines"]]
    ended = f"{str(document['state']).capitalize()}. " if document.get("state") in _ENDED_EARLY else ""
    message = document.get("reason") or answer["status"]["message"]
    return _virtual_machine(answer["status"]["code"], f"{ended}{message}", machines)


def _virtual_machine(code: int, message: str, listed: Iterable[tuple[str, int, float | None]]) -> str:
    root = ElementTree.Element("virtualMachine")
    ElementTree.SubElement(root, "result", statusCode=str(code), statusMessage=_xml_text(message))
    machines = ElementTree.SubElement(root, "machineList")
    for dns, processors, share in listed:
        attributes = {"dns": _xml_text(dns), "processor": str(processors)}
        attributes |= {} if share is None else {"x": str(share)}
        ElementTree.SubElement(machines, "machine", attributes)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def number(share: float | None) -> float | int | None:
    """A whole share without a point.

    >>> number(20.0), number(0.25)
    (20, 0.25)
    """
    return int(share) if share is not None and share == int(share) else share


def _xml_text(text: str) -> str:
    """Without the characters that no XML may have."""
    return "".join(letter for letter in text if letter in "\t\n\r" or letter >= " ")
