"""What a job may ask a cluster for, as the cluster's row keeps it: nothing while the cluster was never reached."""

from __future__ import annotations

from typing import TypedDict


class Partition(TypedDict):
    """Times in seconds, None for no limit."""

    name: str
    default: bool
    up: bool
    max_time: float | None
    default_time: float | None
    nodes: int


class Reservation(TypedDict):
    """Nodes that are kept for some users and accounts from `start` to `end`, Unix seconds (None: always)."""

    name: str
    start: float | None
    end: float | None
    nodes: list[str]
    users: list[str]
    accounts: list[str]


class QosLimits(TypedDict):
    """What a QOS allows at most, None for no limit; max_time in seconds."""

    max_time: float | None
    max_jobs: int | None
    max_submitted: int | None


class AccountOffers(TypedDict, total=False):
    """users: the accounts of each person and the QOS of each, under "" those of whom the portal submits as, who is
    acts_as. accounts_error: why nobody knows."""

    users: dict[str, dict[str, list[str]]]
    acts_as: str
    accounts_error: str
    qos_limits: dict[str, QosLimits]


class PartitionOffers(AccountOffers, total=False):
    """accounts, qos: those that some partition names."""

    partitions: list[Partition]
    reservations: list[Reservation]
    accounts: list[str]
    qos: list[str]


class Offers(PartitionOffers, total=False):
    """All of it; memory: bytes, the most that a node has."""

    features: list[str]
    gres: list[str]
    memory: int | None
