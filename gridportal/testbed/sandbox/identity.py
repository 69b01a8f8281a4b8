"""Who a job runs as where root has started the Grid: a user of its owner's own, the same for ever."""

from __future__ import annotations

import json
import logging
import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from gridportal.base.errors import InputError
from gridportal.testbed.sandbox import uids
from gridportal.testbed.sandbox.job_rules import JobRules
from gridportal.testbed.sandbox.order import Identity
from gridportal.testbed.state import State, write_atomically

log = logging.getLogger(__name__)


class Identities:
    """The users of owners. An owner who has none in the settings gets a number, which is kept and given to no other."""

    def __init__(self, state: State, rules: JobRules) -> None:
        self._file, self._rules = state.owners, rules
        self._first = rules.first_uid or uids.range_of(str(state.root))
        self._checked: set[str] = set()

    def of(self, owner: str) -> Identity | None:
        """None where this process is not root, and everything runs as its user. InputError for an account that cannot
        be used."""
        if os.geteuid() != 0 or _only_one_user():
            return None
        name = self._rules.users.get(owner)
        if name is None:
            number = self._first + self._number(owner)
            return Identity(number, number, f"grid-{number}")
        try:
            account = pwd.getpwnam(name)
        except KeyError as error:
            raise InputError("GRIDPORTAL_GRID_USERS", name, "accounts of this machine") from error
        if account.pw_uid == 0:
            raise InputError("GRIDPORTAL_GRID_USERS", name, "accounts of this machine, but not root's")
        return Identity(account.pw_uid, account.pw_gid, name)

    def _number(self, owner: str) -> int:
        numbers = self._read()
        if owner not in self._checked:  # once in the life of a daemon: a directory of accounts may be slow
            kept = numbers.get(owner)
            if kept is None or not self._is_free(kept):
                numbers[owner] = self._new(numbers)
                write_atomically(self._file, numbers)
            if kept is not None and kept != numbers[owner]:
                log.warning("%s has another number: %d is somebody's of this machine now", owner, self._first + kept)
            self._checked.add(owner)
        return numbers[owner]

    def _read(self) -> dict[str, int]:
        try:
            numbers: dict[str, int] = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return numbers

    def _is_free(self, number: int) -> bool:
        return uids.next_free(self._first + number) == self._first + number

    def _new(self, numbers: Mapping[str, int]) -> int:
        return uids.next_free(self._first + 1 + max(numbers.values(), default=-1)) - self._first


def _only_one_user() -> bool:
    """Whether this is root in a user namespace of its own, where there are no other users to be."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    return lines[2:3] == ["1"]


def accounts(identity: Identity) -> dict[str, str]:
    """Files in place of /etc/passwd and /etc/group in which the user of `identity` has a name; {} where it has one."""
    try:
        pwd.getpwuid(identity.uid)
    except KeyError:
        user = f"{identity.name}:x:{identity.uid}:{identity.gid}:GridPortal job:/:/bin/sh\n"
        group = f"{identity.name}:x:{identity.gid}:\n"
        return {"/etc/passwd": _text("/etc/passwd") + user, "/etc/group": _text("/etc/group") + group}
    return {}


def _text(file: str) -> str:
    text = Path(file).read_text(encoding="utf-8", errors="surrogateescape") if Path(file).exists() else ""
    return text if text.endswith("\n") or not text else text + "\n"
