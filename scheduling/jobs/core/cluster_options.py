"""What a job may ask of its cluster beside nodes: partition, account, QOS, memory, GRES, constraint, reservation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gridportal.base.accepted_values import text_of
from gridportal.base.checked_numbers import is_whole
from gridportal.base.clusters import BUSY, Cluster
from gridportal.base.errors import InputError
from gridportal.base.job_options import JobOptions
from gridportal.base.moment_text import moment_text
from monitoring.clusters.core.offers import Offers, Reservation
from scheduling.jobs.core.unreadable import Unreadable

#: option -> what it may be made of, and the words for that.
_WORD = (re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}"), "a name of letters, digits and ._@+-")
TEXTS: dict[str, tuple[re.Pattern[str], str]] = {
    "partition": _WORD,
    "account": _WORD,
    "qos": _WORD,
    "reservation": _WORD,
    "constraint": (re.compile(r"[A-Za-z0-9][A-Za-z0-9._&|,*()\[\]:-]{0,199}"), "features, such as ib&skylake"),
    "gres": (re.compile(r"[A-Za-z0-9][A-Za-z0-9._:,-]{0,199}"), "such as gpu:2 or gpu:a100:2"),
}
#: name, name:count, name:type or name:type:count; of a count Slurm keeps 64 bits, and some resources are counted in K.
_GRES = re.compile(r"[A-Za-z][A-Za-z0-9._-]*(:[A-Za-z][A-Za-z0-9._-]*)?(:[1-9][0-9]{0,8}[KMGTPkmgtp]?)?")
NUMBERS = {"memory": (2**20, 2**50, "bytes on each node, at least one MiB"), "cpus_per_rank": (1, 4096, "1 to 4096")}
NAMES = (*TEXTS, *NUMBERS, "exclusive")
_KINDS: dict[str, type] = {**dict.fromkeys(NUMBERS, int), "exclusive": bool}


@dataclass(frozen=True, slots=True)
class ClusterOptions(JobOptions):
    """What a job asks of its cluster.

    >>> asked = ClusterOptions.read({"memory": 2**30, "partition": "main", "exclusive": False})
    >>> asked.partition, asked.document()
    ('main', {'partition': 'main', 'memory': 1073741824})
    """

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> ClusterOptions:
        """The options that somebody sent. Raises InputError that names the one which cannot be accepted."""
        given = {name: value for name, value in document.items() if _says_something(value)}
        for name in given:
            if name not in NAMES:
                raise InputError("options", name, "one of " + ", ".join(NAMES))
        for name, value in given.items():
            _check_one(name, value)
        return cls(**given)

    @classmethod
    def stored(cls, document: Mapping[str, Any]) -> ClusterOptions:
        """The options from a document that was checked before; names of an older portal are left out. Raises
        InputError for what is of another kind."""
        if not isinstance(document, Mapping):
            raise InputError("options", document, "an object")
        given = {name: value for name, value in document.items() if name in NAMES and _says_something(value)}
        for name, value in given.items():
            if type(value) is not (_KINDS.get(name) or str):
                raise InputError(name, value, text_of(None) if name in TEXTS else _KINDS[name].__name__)
        return cls(**given)

    def document(self) -> dict[str, Any]:
        """As JSON, without what says nothing."""
        given = {name: getattr(self, name) for name in NAMES}
        return {name: value for name, value in given.items() if _says_something(value)}

    def or_else(self, others: ClusterOptions) -> ClusterOptions:
        """With those of `others` where this one says nothing."""
        return ClusterOptions(**others.document() | self.document())


NO_OPTIONS = ClusterOptions()


@dataclass(frozen=True, slots=True)
class UnreadableOptions(Unreadable, ClusterOptions):
    """Options that nobody can read."""

    raw: Any = None
    why: str = ""


def check(options: ClusterOptions, cluster: Cluster, offers: Offers, user: str = "") -> None:
    """Whether the cluster offers this to `user`, as far as known. Raises InputError."""
    given = options.document()
    if given and not cluster.traits.has_options:
        raise InputError("options", ", ".join(given), "nothing on an emulated Grid; choose a cluster that runs Slurm")
    for name, value in given.items():
        _check_one(name, value)
    for name, offered in choices(offers, user, options.account).items():
        if name in given and (offered or (name == "reservation" and offers.get("reservations"))):
            _offered(name, str(given[name]), offered)
    _gres(options.gres, offers)
    _memory(options.memory, offers.get("memory"))


def check_busy(policy: str) -> str:
    """A busy policy, or empty for the cluster's own. Raises InputError."""
    if policy and policy not in BUSY:
        raise InputError("busy_policy", policy, "one of " + ", ".join(BUSY))
    return policy


def default_partition(offers: Offers) -> str:
    """The partition that jobs get which ask for none; empty where the cluster names none."""
    return next((row["name"] for row in offers.get("partitions", []) if row["default"]), "")


def check_partition(name: str, offers: Offers, nodes: int, seconds: int | None) -> None:
    """Raises InputError when the partition (empty: the default one) is too small, or its time limit too short."""
    for row in offers.get("partitions", []):
        if row["name"] == name or (not name and row["default"]):
            if row["nodes"] and nodes > row["nodes"]:
                raise InputError("node_count", nodes, f"at most {row['nodes']}, which partition {row['name']} has")
            if seconds and row["max_time"] and seconds > row["max_time"]:
                raise InputError("time_limit", seconds, f"at most {row['max_time']:.0f} s in partition {row['name']}")


def check_qos(name: str, offers: Offers, seconds: int | None) -> None:
    """Raises InputError when a job may take longer than its QOS allows: Slurm would let it wait for ever."""
    limits = offers.get("qos_limits", {}).get(name)
    most = limits and limits.get("max_time")
    if seconds and most and seconds > most:
        raise InputError("time_limit", seconds, f"at most {most:.0f} s with the QOS {name}")


def choices(offers: Offers, user: str = "", account: str = "") -> dict[str, list[str]]:
    """What the cluster lets `user` choose from, by option; an empty list where it does not say.

    With `account` only the QOS that may be used with it.
    """
    mine = own_accounts(offers, user)
    qos = sorted({name for key, names in mine.items() if account in ("", key) for name in names})
    return {
        "partition": [row["name"] for row in offers.get("partitions", [])],
        "reservation": [row["name"] for row in offers.get("reservations", []) if admits(row, offers, user)],
        "account": list(mine) or list(offers.get("accounts", [])),
        "qos": qos or list(offers.get("qos", [])),
        "constraint": list(offers.get("features", [])),
        "gres": list(offers.get("gres", [])),
    }


def own_accounts(offers: Offers, user: str) -> dict[str, list[str]]:
    """The accounts of `user` and their QOS; empty where the cluster keeps none, or has none for that name.

    Where all jobs are the portal's own, its accounts are everybody's: they stand under the name "".
    """
    users = offers.get("users", {})
    found: dict[str, list[str]] = users.get("") or users.get(user) or {}
    return found


def admits(reservation: Reservation, offers: Offers, user: str) -> bool:
    """Whether a reservation is for `user`, by name or by account; yes where it does not say, or `user` is unknown.

    >>> course = {"name": "course", "users": ["ann"], "accounts": []}
    >>> admits(course, {}, "ann"), admits(course, {}, "bob"), admits({"name": "any"}, {}, "bob")
    (True, False, True)
    """
    users, accounts = reservation.get("users") or [], reservation.get("accounts") or []
    name = offers.get("acts_as") or user
    if not name or not (users or accounts):
        return True
    return name in users or bool(set(accounts) & set(own_accounts(offers, user)))


def reserved(offers: Offers, own: str, now: float, seconds: float | None) -> dict[str, str]:
    """The nodes that are kept for others at any moment of a job that starts now and may take `seconds` (None: for
    ever), with the sentence. `now` in Unix seconds; `own`: the reservation that the job asks for, or empty.

    >>> r = {"name": "course", "start": 100.0, "end": 4600.0, "nodes": ["n1"]}
    >>> reserved({"reservations": [r]}, "", 50.0, 60.0)
    {'n1': 'It is reserved (course) until 01:16 UTC on 1 January.'}
    >>> reserved({"reservations": [r]}, "", 30.0, 60.0), reserved({"reservations": [r]}, "", 5000.0, 60.0)
    ({}, {})
    """
    found: dict[str, str] = {}
    for row in offers.get("reservations", []):
        begins, ends = row.get("start") or 0.0, row.get("end") or math.inf
        if row["name"] == own or now >= ends or (seconds is not None and now + seconds <= begins):
            continue
        until = f" until {_moment(ends)}" if math.isfinite(ends) else ""
        found |= dict.fromkeys(row.get("nodes", []), f"It is reserved ({row['name']}){until}.")
    return found


def longest(offers: Offers, partition: str, seconds: float | None) -> float | None:
    """How long a job may take at most: its own limit, else what the partition gives one that names none."""
    by_name = {row["name"]: row for row in offers.get("partitions", [])}
    row = by_name.get(partition)
    return seconds or (row and (row.get("default_time") or row.get("max_time")))


def _moment(seconds: float) -> str:
    return moment_text(datetime.fromtimestamp(seconds, UTC))


def features(constraint: str) -> frozenset[str] | None:
    """The features that every node must have; None when the constraint says something else than that.

    >>> sorted(features("ib&fast")), features("ib|eth")
    (['fast', 'ib'], None)
    """
    names = re.split(r"[&,]", constraint)
    return frozenset(names) if all(re.fullmatch(r"[A-Za-z0-9._-]+", word) for word in names) else None


def gres_names(gres: str) -> frozenset[str]:
    """The kinds of resources in a GRES option.

    >>> sorted(gres_names("gpu:a100:2,nic"))
    ['gpu', 'nic']
    """
    return frozenset(part.partition(":")[0] for part in gres.split(",") if part)


def gres_counts(gres: str) -> dict[str, int]:
    """How many of each kind are asked for or offered.

    >>> gres_counts("gpu:a100:2,nic")
    {'gpu:a100': 2, 'nic': 1}
    """
    return dict(_counted(part) for part in gres.split(",") if part)


def check_gres(name: str, value: object) -> None:
    """Raises InputError, in which the field is `name`, for what is no list of resources with their counts."""
    pattern, accepted = TEXTS["gres"]
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InputError(name, value, accepted)
    if not all(_GRES.fullmatch(part) for part in value.split(",")):
        raise InputError(name, value, f"names with a count of at least 1, {accepted}")


def check_gres_once(name: str, value: str) -> None:
    """Raises InputError, in which the field is `name`, where a kind stands twice, so that nobody says which counts."""
    kinds = [_counted(part)[0] for part in value.split(",") if part]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise InputError(name, value, f"each kind once; {kind} stands there {kinds.count(kind)} times")


def _says_something(value: object) -> bool:
    """0 is a value, though it equals False."""
    return value is not False and value not in (None, "")


def _check_one(name: str, value: object) -> None:
    if name in TEXTS:
        pattern, accepted = TEXTS[name]
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise InputError(name, value, accepted)
        if name == "gres":
            check_gres(name, value)
            check_gres_once(name, value)
    elif name in NUMBERS:
        low, high, accepted = NUMBERS[name]
        if not is_whole(value) or not low <= value <= high:
            raise InputError(name, value, accepted)
    elif not isinstance(value, bool):
        raise InputError(name, value, "true or false")


def _offered(name: str, value: str, offered: list[str]) -> None:
    asked: Iterable[str] = [value]
    if name == "constraint":
        asked = re.findall(r"[A-Za-z0-9._-]+", re.sub(r"\*\d+", "", value))
    elif name == "gres":
        asked, offered = gres_names(value), sorted({gres.partition(":")[0] for gres in offered})
    for word in asked:
        if word not in offered:
            accepted = (
                f"one that the cluster has: {', '.join(offered[:20])}" if offered else "none: there is none for you"
            )
            raise InputError(name, word, accepted)


def _gres(asked: str, offers: Offers) -> None:
    """Whether some node has as many; a cluster that was reached and names none has none."""
    if not asked:
        return
    if "gres" in offers and not offers["gres"]:
        raise InputError("gres", asked, "none: no node of the cluster has such resources")
    most = gres_offered(offers.get("gres", []))
    for part in asked.split(","):
        name, count = _counted(part)
        if name in most and count > most[name]:
            raise InputError("gres", part, f"at most {name}:{most[name]}, the most that a node has")


def gres_offered(offered: Iterable[str]) -> dict[str, int]:
    """How many of each kind, and of each type of it, a node has at most.

    >>> gres_offered(["gpu:a100:2(S:0-1)", "gpu:4"])
    {'gpu:a100': 2, 'gpu': 4}
    """
    found: dict[str, int] = {}
    for part in filter(None, offered):
        name, count = _counted(part.partition("(")[0])
        for key in (name, name.partition(":")[0]):
            found[key] = max(found.get(key, 0), count)
    return found


def gres_of_labels(labels: Mapping[str, str]) -> dict[str, int]:
    """What a node has by its label gres; nothing without one, or where that is of another kind.

    >>> gres_of_labels({"gres": "gpu:a100:2"}), gres_of_labels({"gres": "some"}), gres_of_labels({"gres": "!"})
    ({'gpu:a100': 2, 'gpu': 2}, {'some': 1}, {})
    """
    try:
        check_gres("gres", labels.get("gres"))
    except InputError:
        return {}
    return gres_offered(labels["gres"].split(","))


def _counted(part: str) -> tuple[str, int]:
    """What is asked for or offered, and how many; one where no number stands.

    >>> _counted("gpu:a100:2"), _counted("gpu"), _counted("lustre:4K")
    (('gpu:a100', 2), ('gpu', 1), ('lustre', 4096))
    """
    name, _, last = part.rpartition(":")
    match = re.fullmatch(r"(\d+)([KMGTPkmgtp]?)", last)
    if not name or not match:
        return part, 1
    return name, int(match[1]) * 1024 ** " KMGTP".index(match[2].upper() or " ")


def _memory(asked: int | None, most: int | None) -> None:
    if asked and most and asked > most:
        raise InputError("memory", asked, f"at most {most}, the largest that a node has")
