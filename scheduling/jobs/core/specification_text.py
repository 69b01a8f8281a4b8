"""Pins and excluded nodes of an application's specification as people type them in one line."""

from __future__ import annotations

import re

from gridportal.base.errors import InputError
from scheduling.jobs.core.application_specification import ApplicationSpecification

#: A comma after which one more node of the same pin stands, not the next pin.
_NEXT_NODE = re.compile(r"(?<=[^\s,])\s*,\s*(?=[^\s,=]+(?:[\s,]|$))")
PINS = "rank=node or group=node pairs, such as 0=n3 server=n1,n2"


def pins(specification: ApplicationSpecification) -> str:
    """
    >>> pins(ApplicationSpecification.read({"pins": {"0": "n3", "1": ["n1", "n2"]}}))
    '0=n3 1=n1|n2'
    """
    return " ".join(f"{pin.what}={'|'.join(pin.nodes)}" for pin in specification.pins)


def parse_pins(text: str) -> dict[str, list[str]]:
    """The nodes of each rank or group; several have a comma or | between them. Raises InputError.

    >>> parse_pins("0=n3, server=n1|n2"), parse_pins("server=n1, n2 0=n3")
    ({'0': ['n3'], 'server': ['n1', 'n2']}, {'server': ['n1', 'n2'], '0': ['n3']})
    """
    found: dict[str, list[str]] = {}
    for part in _NEXT_NODE.sub("|", text).replace(",", " ").split():
        what, sign, nodes = part.rpartition("=")
        names = [name for name in nodes.split("|") if name]
        if not sign or not what or not names:
            raise InputError("pins", part, PINS)
        if what in found:
            raise InputError("pins", part, f"one entry for {what}, with all its nodes: {what}=n1,n2")
        found[what] = names
    return found


def split_names(text: str) -> list[str]:
    """
    >>> split_names("n4, n5  n6")
    ['n4', 'n5', 'n6']
    """
    return [word for word in re.split(r"[,\s]+", text) if word]
