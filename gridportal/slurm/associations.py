"""Who may charge which account and use which QOS, as slurmdbd has it: sacctmgr's text, and JSON of any version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.slurm.commands import SlurmCommands
from gridportal.slurm.values import split_list, text

_FIELDS = ("Account", "User", "QOS", "DefaultQOS", "Partition")


@dataclass(frozen=True, slots=True)
class Association:
    """A user in an account, on one cluster; `partition` where it holds for that one alone."""

    account: str
    user: str
    qos: tuple[str, ...] = ()
    default_qos: str = ""
    partition: str = ""


def ask(slurm: SlurmCommands, cluster: str, users: Iterable[str] = ()) -> list[Association]:
    """The associations of `users` (none named: of all) with `cluster`. Raises BackendError, RefusedError."""
    argv = [
        "sacctmgr",
        "--noheader",
        "--parsable2",
        "--readonly",
        "show",
        "associations",
        f"format={','.join(_FIELDS)}",
        f"cluster={cluster}",
    ]
    named = sorted(set(users))
    return parse(slurm.ask(argv + ([f"user={','.join(named)}"] if named else [])))


def parse(output: str) -> list[Association]:
    """The users' associations in sacctmgr's text; accounts themselves, which have no user, are left out.

    >>> parse("physics||normal|||\\nphysics|ann|high,normal|normal||")
    [Association(account='physics', user='ann', qos=('high', 'normal'), default_qos='normal', partition='')]
    """
    found = []
    for line in output.splitlines():
        fields = line.split("|")
        if len(fields) < len(_FIELDS):
            raise BackendError(f"sacctmgr gave an answer that is no list of associations: {line[:80]!r}.")
        account, user, qos, default, partition = fields[: len(_FIELDS)]
        if account and user:
            found.append(Association(account, user, split_list(qos), text(default), text(partition)))
    return found


def decode(document: Any, command: str = "sacctmgr show associations --json") -> list[Association]:
    """The users' associations of a JSON document (slurmrestd, sacctmgr from 23.02 on)."""
    if not isinstance(document, Mapping) or not isinstance(document.get("associations"), list):
        raise BackendError(f"{command} gave an answer without a list of associations.")
    return [
        Association(
            text(raw.get("account")),
            text(raw.get("user")),
            split_list(raw.get("qos")),
            text((raw.get("default") or {}).get("qos")),
            text(raw.get("partition")),
        )
        for raw in document["associations"]
        if isinstance(raw, Mapping) and text(raw.get("account")) and text(raw.get("user"))
    ]


def by_user(associations: Iterable[Association]) -> dict[str, dict[str, list[str]]]:
    """For each user the accounts, and for each of those its QOS.

    >>> by_user([Association("physics", "ann", ("high", "normal")), Association("physics", "ann", ("low",), "", "gpu")])
    {'ann': {'physics': ['high', 'low', 'normal']}}
    """
    found: dict[str, dict[str, set[str]]] = {}
    for each in associations:
        found.setdefault(each.user, {}).setdefault(each.account, set()).update(each.qos)
    return {user: {name: sorted(qos) for name, qos in sorted(own.items())} for user, own in found.items()}
