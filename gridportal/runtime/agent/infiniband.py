"""The byte counters of InfiniBand ports. Those of the whole machine: no network namespace hides them."""

from __future__ import annotations

import os

PORTS = "/sys/class/infiniband"
_WORD = 4  # the hardware counts in words of four bytes
_MOST = 64  # devices


def counters(folder: str = PORTS) -> dict[str, tuple[int, int]]:
    """Bytes (sent, received) of each InfiniBand device, all its active ports together; none where there is no such
    folder. A port that tells nothing is left out, and so is one of Ethernet (RoCE): its interface counts that.

    Source: port_xmit_data and port_rcv_data, Documentation/ABI/stable/sysfs-class-infiniband of Linux.
    """
    found: dict[str, tuple[int, int]] = {}
    for device in _names(folder)[:_MOST]:
        ports = os.path.join(folder, device, "ports")
        told = [each for each in (_port(os.path.join(ports, port)) for port in _names(ports)) if each]
        if told:
            found[device] = (sum(sent for sent, _ in told), sum(received for _, received in told))
    return found


def _port(folder: str) -> tuple[int, int] | None:
    try:
        if _read(folder, "link_layer") != "InfiniBand" or not _read(folder, "state").endswith("ACTIVE"):
            return None
        sent, received = (_read(folder, "counters", name) for name in ("port_xmit_data", "port_rcv_data"))
        return int(sent) * _WORD, int(received) * _WORD
    except (OSError, ValueError):
        return None


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(*parts: str) -> str:
    with open(os.path.join(*parts), encoding="ascii", errors="replace") as file:
        return file.read().strip()
