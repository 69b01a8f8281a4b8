"""What a job may ask of its cluster beside nodes: partition, account, QOS, memory, GRES, constraint, reservation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from gridportal.clusters import BUSY, Cluster
from gridportal.errors import InputError

#: option -> what it may be made of, and the words for that.
_WORD = (re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}"), "a name of letters, digits and ._@+-")
TEXTS: dict[str, tuple[re.Pattern[str], str]] = {
    "partition": _WORD,
    "account": _WORD,
    "qos": _WORD,
    "reservation": _WORD,
    "constraint": (re.compile(r"[A-Za-z0-9][A-Za-z0-9._&|,*()\[\]:-]{0,199}"), "features, such as ib&skylake"),
    "gres": (re.compile(r"[A-Za-z0-9][A-Za-z0-9._:,-]{0,199}"), "such as gpu:2"),
}
NUMBERS = {"memory": (2**20, 2**50, "bytes on each node, at least one MiB"), "cpus_per_rank": (1, 4096, "1 to 4096")}
NAMES = (*TEXTS, *NUMBERS, "exclusive")


def check(options: Mapping[str, Any], cluster: Cluster, offers: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something, checked against what the cluster offers, where that is known. InputError."""
    given = {name: value for name, value in options.items() if value not in (None, "", False)}
    if given and not cluster.queues:
        raise InputError("options", ", ".join(given), "nothing on an emulated Grid; choose a cluster that runs Slurm")
    for name in given:
        if name not in NAMES:
            raise InputError("options", name, "one of " + ", ".join(NAMES))
    for name, value in given.items():
        _check_one(name, value)
    for name, known in choices(offers).items():
        if name in given and known:
            _offered(name, str(given[name]), known)
    _memory(given.get("memory"), offers.get("memory"))
    return given


def check_busy(policy: str) -> str:
    """A busy policy, or empty for the cluster's own. Raises InputError."""
    if policy and policy not in BUSY:
        raise InputError("busy_policy", policy, "one of " + ", ".join(BUSY))
    return policy


def check_partition(name: str, offers: Mapping[str, Any], nodes: int, seconds: int | None) -> None:
    """Raises InputError when the partition (empty: the default one) is too small, or its time limit too short."""
    for row in offers.get("partitions", []):
        if row["name"] == name or (not name and row["default"]):
            if row["nodes"] and nodes > row["nodes"]:
                raise InputError("node_count", nodes, f"at most {row['nodes']}, which partition {row['name']} has")
            if seconds and row["max_time"] and seconds > row["max_time"]:
                raise InputError("time_limit", seconds, f"at most {row['max_time']:.0f} s in partition {row['name']}")


def choices(offers: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the cluster lets one choose from, by option; an empty list where it does not say."""
    return {
        "partition": [row["name"] for row in offers.get("partitions", [])],
        "reservation": [row["name"] for row in offers.get("reservations", [])] if "reservations" in offers else [],
        "account": list(offers.get("accounts", [])),
        "qos": list(offers.get("qos", [])),
        "constraint": list(offers.get("features", [])),
        "gres": list(offers.get("gres", [])),
    }


def features(constraint: str) -> frozenset[str] | None:
    """The features that every node must have; None when the constraint says something else than that.

    >>> sorted(features("ib&fast")), features("ib|eth")
    (['fast', 'ib'], None)
    """
    words = re.split(r"[&,]", constraint)
    return frozenset(words) if all(re.fullmatch(r"[A-Za-z0-9._-]+", word) for word in words) else None


def gres_names(gres: str) -> frozenset[str]:
    """The kinds of resources in a GRES option.

    >>> sorted(gres_names("gpu:a100:2,nic"))
    ['gpu', 'nic']
    """
    return frozenset(part.partition(":")[0] for part in gres.split(",") if part)


def _check_one(name: str, value: Any) -> None:
    if name in TEXTS:
        pattern, accepted = TEXTS[name]
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise InputError(name, value, accepted)
    elif name in NUMBERS:
        low, high, accepted = NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(name, value, accepted)
    elif not isinstance(value, bool):
        raise InputError(name, value, "true or false")


def _offered(name: str, value: str, known: list[str]) -> None:
    asked: Iterable[str] = [value]
    if name == "constraint":
        asked = re.findall(r"[A-Za-z0-9._-]+", re.sub(r"\*\d+", "", value))
    elif name == "gres":
        asked, known = gres_names(value), sorted({gres.partition(":")[0] for gres in known})
    for word in asked:
        if word not in known:
            raise InputError(name, word, "one that the cluster has: " + ", ".join(known[:20]))


def _memory(asked: int | None, most: int | None) -> None:
    if asked and most and asked > most:
        raise InputError("memory", asked, f"at most {most}, the largest that a node has")
