"""The line of a batch script that opens to the portal what a program left in the folder of its job.

Where jobs run as the person who submitted, the portal's own access is an entry of the folder's access list, which new
files have too. A file that is made for its owner alone (mode 600, or moved there from elsewhere) is closed to the
portal all the same, and so is a folder of mode 700: what is in it could be neither read nor freed.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

#: Seconds that it may take.
_PATIENCE = 60
_LINE = "  timeout {patience} {command} 2> /dev/null\n"


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """The folder, and the uid of the portal."""

    path: str
    reader: int


def command(opened: OpenedFolder) -> list[str]:
    """Lets the portal read, write and pass all below, where its owner may. Links are not followed.

    >>> " ".join(command(OpenedFolder("/jobs/7", 61200)))
    'setfacl -R -P -m u:61200:rwX,m::rwX -- /jobs/7'
    """
    return ["setfacl", "-R", "-P", "-m", f"u:{opened.reader}:rwX,m::rwX", "--", opened.path]


def line(opened: OpenedFolder | None) -> str:
    """For the end of a script, before its record; none where nothing is to be opened."""
    return _LINE.format(patience=_PATIENCE, command=shlex.join(command(opened))) if opened else ""
