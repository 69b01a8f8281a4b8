"""How far jobs of a Grid are kept apart, and from the portal."""

from __future__ import annotations

from enum import StrEnum


class Isolation(StrEnum):
    """What holds for the jobs of a Grid; `message` says it to people."""

    UNTESTED = "untested"
    OWN_USER = "own-user"
    OWN_VIEW = "own-view"
    NONE = "none"

    @property
    def message(self) -> str:
        """One sentence for people."""
        return _MESSAGES[self]


#: What holds besides where nodes have no network of their own.
SHARED_NETWORK = (
    "The nodes have no network of their own here: jobs reach each other and whatever listens on this machine's "
    "network, on 127.0.0.1 too."
)
#: What holds besides where jobs run as the user who runs the Grid, and the machine has no filter for system calls.
OPEN_KEYS = (
    "There are no seccomp filters here: jobs can reach the kernel's keys (keyctl) of the user who runs the Grid."
)
_MESSAGES = {
    Isolation.UNTESTED: "It is not known yet how far jobs are kept apart.",
    Isolation.OWN_USER: "Each owner's jobs run as a user of their own, see only their own files and processes, and "
    "cannot reach the portal's.",
    Isolation.OWN_VIEW: "Jobs run as the user who runs the Grid, but see only their own run directory, scratch and "
    "processes, and cannot reach the portal's.",
    Isolation.NONE: "Jobs have all rights of the user who runs the Grid: they can read and change the portal's files.",
}
