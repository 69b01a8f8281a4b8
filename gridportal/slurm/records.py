"""scontrol's `Key=Value Key=Value` lines as dictionaries: values may hold spaces, keys may hold a colon or slash."""

from __future__ import annotations

import re

_KEY = re.compile(r"(?:^|(?<=\s))([A-Z][A-Za-z0-9_:/-]*)=")
_NOTHING_THERE = re.compile(r"^No \w+ in the system")


def read(output: str, first: str) -> list[dict[str, str]]:
    """One dictionary for each record that begins with the key `first`, written on one line or on several.

    Where a key comes twice the first counts: free text (Reason, Comment) stands behind the fields that matter.

    >>> read("NodeName=n1 State=IDLE Reason=bad State=x disk\\nNodeName=n2 State=DOWN*", "NodeName")
    [{'NodeName': 'n1', 'State': 'IDLE', 'Reason': 'bad'}, {'NodeName': 'n2', 'State': 'DOWN*'}]
    """
    if _NOTHING_THERE.match(output):
        return []
    records: list[dict[str, str]] = []
    for line in output.split("\n"):
        fields = _fields(line)
        if line.startswith(f"{first}="):
            records.append(fields)
        elif records:
            records[-1] = fields | records[-1]
    return records


def _fields(line: str) -> dict[str, str]:
    found = list(_KEY.finditer(line))
    fields: dict[str, str] = {}
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(line)
        fields.setdefault(match[1], line[match.end() : end].strip())
    return fields
