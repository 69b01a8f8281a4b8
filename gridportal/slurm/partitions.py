"""Partitions and reservations as values, from scontrol's text and from JSON."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gridportal.base.errors import BackendError
from gridportal.slurm.records import read as read_records
from gridportal.slurm.values import number, split_list, text, when

log = logging.getLogger(__name__)

_TIME = re.compile(r"(?:(?P<days>\d+)-)?(?:(?:(?P<hours>\d+):)?(?P<minutes>\d+):)?(?P<seconds>\d+)")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition. Times in seconds, None without a limit; `nodes` a host list; empty `accounts`, `qos`: all may."""

    name: str
    state: str
    default: bool
    max_time: float | None
    default_time: float | None
    max_nodes: int | None
    nodes: str
    accounts: tuple[str, ...] = ()
    qos: tuple[str, ...] = ()

    @property
    def up(self) -> bool:
        """Whether it takes jobs and starts them."""
        return self.state == "UP"


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation; Unix seconds, None where Slurm did not tell; `nodes` a host list."""

    name: str
    start: float | None
    end: float | None
    nodes: str
    partition: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def seconds(value: str | None) -> float | None:
    """Slurm's [D-]HH:MM:SS in seconds; None for UNLIMITED, NONE and what is no time.

    >>> seconds("1-00:30:00"), seconds("30:00"), seconds("UNLIMITED")
    (88200.0, 1800.0, None)
    """
    match = _TIME.fullmatch((value or "").strip())
    if not match:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + rest)


def parse_partitions(output: str) -> list[Partition]:
    """The partitions in `scontrol --oneliner show partitions`; BackendError when there is text and no partition."""
    return [_partition(record) for record in _records(output, "PartitionName", "partitions")]


def parse_reservations(output: str) -> list[Reservation]:
    """The reservations in `scontrol --oneliner show reservations`; BackendError for text that is none."""
    return [_reservation(record) for record in _records(output, "ReservationName", "reservations")]


def decode_partitions(document: Any, command: str = "scontrol show partitions --json") -> list[Partition]:
    """The partitions of a JSON document (23.02 and later)."""
    return [_partition_json(raw) for raw in _entries(document, "partitions", command)]


def decode_reservations(document: Any, command: str = "scontrol show reservations --json") -> list[Reservation]:
    """The reservations of a JSON document."""
    return [_reservation_json(raw) for raw in _entries(document, "reservations", command)]


def _records(output: str, key: str, what: str) -> list[dict[str, str]]:
    records = read_records(output, key)
    if output.strip() and not records and not output.startswith("No "):
        shown = "".join(c if c.isprintable() else " " for c in output.strip())[:80]
        raise BackendError(f"scontrol show {what} gave an answer that holds none: {shown!r}.")
    return records


def _entries(document: Any, key: str, command: str) -> list[Mapping[str, Any]]:
    if not isinstance(document, Mapping) or not isinstance(document.get(key), list):
        raise BackendError(f"{command} gave an answer without a list of {key}.")
    good = [raw for raw in document[key] if isinstance(raw, Mapping) and text(raw.get("name"))]
    if len(good) < len(document[key]):
        log.warning("%s holds %d entries without a name", command, len(document[key]) - len(good))
    return good


def _partition(record: Mapping[str, str]) -> Partition:
    limit = number(record.get("MaxNodes"))
    return Partition(
        record["PartitionName"],
        text(record.get("State")).upper(),
        record.get("Default") == "YES",
        seconds(record.get("MaxTime")),
        seconds(record.get("DefaultTime")),
        None if limit is None else int(limit),
        text(record.get("Nodes")),
        _allowed(record.get("AllowAccounts")),
        _allowed(record.get("AllowQos")),
    )


def _reservation(record: Mapping[str, str]) -> Reservation:
    return Reservation(
        record["ReservationName"],
        when(record.get("StartTime")),
        when(record.get("EndTime")),
        text(record.get("Nodes")),
        text(record.get("PartitionName")),
        split_list(record.get("Users")),
        split_list(record.get("Accounts")),
        split_list(record.get("Flags")),
    )


def _partition_json(raw: Mapping[str, Any]) -> Partition:
    most = _object(raw, "maximums")
    state = _object(raw, "partition").get("state", raw.get("state"))
    defaults = _object(raw, "defaults")
    nodes = raw.get("nodes")
    limit = number(most.get("nodes"))
    return Partition(
        str(raw["name"]),
        "+".join(split_list(state)).upper(),
        "DEFAULT" in split_list(raw.get("flags")),
        _minutes(most.get("time")),
        _minutes(defaults.get("time")),
        int(limit) if limit is not None and limit < 2**31 else None,
        text(nodes.get("configured") if isinstance(nodes, Mapping) else nodes),
        split_list(_object(raw, "accounts").get("allowed")),
        split_list(_object(raw, "qos").get("allowed")),
    )


def _reservation_json(raw: Mapping[str, Any]) -> Reservation:
    return Reservation(
        str(raw["name"]),
        when(raw.get("start_time")),
        when(raw.get("end_time")),
        text(raw.get("node_list")),
        text(raw.get("partition")),
        split_list(raw.get("users")),
        split_list(raw.get("accounts")),
        split_list(raw.get("flags")),
    )


def _object(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def _minutes(value: Any) -> float | None:
    amount = number(value)
    return amount * 60 if amount is not None and amount < 2**31 else None


def _allowed(value: str | None) -> tuple[str, ...]:
    return () if (value or "").upper() in ("", "ALL") else split_list(value)
