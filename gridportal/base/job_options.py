"""What a job may ask of a cluster beside nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Each is empty, None or false where it says nothing. memory: bytes on each node."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    reservation: str = ""
    constraint: str = ""
    gres: str = ""
    memory: int | None = None
    cpus_per_rank: int | None = None
    exclusive: bool = False
