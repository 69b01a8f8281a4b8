"""Forwarding tables of InfiniBand switches as `ibroute`, `dump_lfts.sh` and opensm print them.

The format is that of the manual page of ibroute: for each switch a line `Unicast lids [...] of switch ... guid 0x...
(name):`, two lines of headings, then for each target its LID, the port that leads there, and what it is in parentheses
with the GUID of its port: `0x000a 031 : (Channel Adapter portguid 0xb8cef60300000100: 'node01 mlx5_0')`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gridportal.base.errors import GridPortalError, InputError

HEAD = re.compile(r"^Unicast lids\b.*?\bguid 0x(?P<guid>[0-9a-fA-F]+)", re.MULTILINE)
_ROW = re.compile(
    r"0x[0-9a-fA-F]+\s+(?P<port>\d+)\s*:"
    r"\s*\((?P<sort>Channel Adapter|Switch|Router)\s+portguid 0x(?P<guid>[0-9a-fA-F]+)\b"
)
_ACCEPTED = "a row such as 0x000a 031 : (Channel Adapter portguid 0x...: 'node01 mlx5_0')"

Tables = dict[str, dict[str, str]]


def tables(
    text: str,
    switches: Mapping[int, str],
    ports: Mapping[str, Mapping[int, str]],
    hosts: Mapping[int, str],
    problems: list[GridPortalError],
) -> Tables:
    """Of each switch, by the name of a host, the name of the node that it sends on to; {} where the text has none.

    `switches`: names by GUID; `ports`: of each switch what is at the far end of each port; `hosts`: names by the GUID
    of a port, the first of several ports of a host counts. What is wrong is added to `problems`.
    """
    found: Tables = {}
    table: dict[str, str] | None = None
    switch = ""
    for at, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        head = HEAD.match(line)
        if head:
            switch = switches.get(int(head["guid"], 16), "")
            if not switch:
                problems.append(InputError(f"line {at}", f"0x{head['guid']}", "the GUID of a switch with a block"))
            table = found.setdefault(switch, {}) if switch else None
        elif line.startswith("0x") and table is not None:
            _take(line, at, table, ports.get(switch, {}), hosts, problems)
    return found


def _take(
    line: str,
    at: int,
    table: dict[str, str],
    ports: Mapping[int, str],
    hosts: Mapping[int, str],
    problems: list[GridPortalError],
) -> None:
    row = _ROW.match(line)
    if row is None:
        problems.append(InputError(f"line {at}", line[:60], _ACCEPTED))
        return
    if row["sort"] != "Channel Adapter":
        return
    host = hosts.get(int(row["guid"], 16))
    following = ports.get(int(row["port"]))
    if host is None:
        problems.append(InputError(f"line {at}", f"0x{row['guid']}", "the GUID of a host's port with a block"))
    elif following is None:
        problems.append(InputError(f"line {at}", f"port {row['port']}", "a port of this switch with a cable"))
    else:
        table.setdefault(host, following)
