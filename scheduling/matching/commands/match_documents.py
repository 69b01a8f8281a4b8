"""What `gridportal match` prints for programs: JSON, and XML as Set matching 2002, 3.3 has it, well-formed."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import msgspec

from scheduling.matching.commands.match_messages import notice_message, refusal_message
from scheduling.matching.core.answers import MatchAnswer


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
    }
    if answer.mapper is not None:
        made["mapper"] = msgspec.to_builtins(answer.mapper)
    if answer.explanation is not None:
        made["explanation"] = msgspec.to_builtins(answer.explanation)
    return made


def xml(answer: MatchAnswer) -> str:
    """A virtualMachine with the result and its machineList; x is a machine's share of the work."""
    root = ElementTree.Element("virtualMachine")
    ElementTree.SubElement(
        root, "result", statusCode=str(int(answer.status)), statusMessage=_xml_text(refusal_message(answer))
    )
    machines = ElementTree.SubElement(root, "machineList")
    for machine in answer.machines:
        attributes = {"dns": _xml_text(machine.dns), "processor": str(machine.processors)}
        share = number(machine.share)
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
