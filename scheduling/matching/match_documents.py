"""Answers for programs: JSON, and XML as Set matching 2002, 3.3 has it, well-formed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree

import msgspec

from scheduling.matching.core.answers import MatchAnswer
from scheduling.matching.match_messages import change_message, notice_message, refusal_message


def document(answer: MatchAnswer) -> dict[str, Any]:
    """The answer as JSON. `share` is null without a mapper; `explanation` and `mapper` are there where there is one."""
    made: dict[str, Any] = {
        "status": {"code": int(answer.status), "message": refusal_message(answer)},
        "machines": [{"dns": m.dns, "processors": m.processors, "share": number(m.share)} for m in answer.machines],
        "rank": answer.rank,
        "exact": answer.exact,
        "bound": answer.bound,
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
    return made | {"change": change_message(answer.explanation)}


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
        reason = document.get("reason") or document.get("state") or document.get("detail") or dict(document)
        return _virtual_machine(code if "state" not in document else 404, str(reason), [])
    machines = [(each["dns"], each["processors"], each["share"]) for each in answer["machines"]]
    return _virtual_machine(answer["status"]["code"], answer["status"]["message"], machines)


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
