"""Shaping as text for `tc`: a token bucket on each end of a wire, or one class per destination on a crossbar.

Found by trying, with frames of 9000 bytes: a bucket of one millisecond gives TCP streams and MPI ping-pongs the shaped
rate within 2 % from 10 to 155 Mbit/s, on a machine with four times more to do than it has cores too. Larger buckets let
small messages pass unshaped (16 kB gave 1 kB messages 127 of 100 Mbit/s). tbf wants room for a whole frame; htb
sends one on credit, so its bucket may be smaller, but then packets must not be larger than a frame (with the usual
64 kB of segmentation offload 10 Mbit/s gave 10.8). The sender's TCP is held back by its own queue (TCP small
queues), so the first queue of a path drops nothing. Latencies of a topology are not emulated: netem is not everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.testbed.layout import Layout

MTU = 9000
FRAME = MTU + 14
_PAYLOAD = MTU - 52  # IPv4, TCP and its timestamps
_LEAST_RATE = 8000.0
_CREDIT = 1600


def wire_rate(bandwidth: float) -> int:
    """Bit/s on the wire, headers included, that leave `bandwidth` bit/s to the application."""
    return round(max(bandwidth, _LEAST_RATE) * FRAME / _PAYLOAD)


def burst(bandwidth: float, least: int) -> int:
    """Bytes in the token bucket: a millisecond's worth, and at least `least`."""
    return max(least, round(wire_rate(bandwidth) / 8000))


def bucket(device: str, bandwidth: float, verb: str = "add") -> str:
    """A token bucket on all that leaves `device`; at most 100 ms (and 64 frames) wait."""
    queue = max(64 * FRAME, round(wire_rate(bandwidth) / 80))
    rate, size = wire_rate(bandwidth), burst(bandwidth, FRAME + 100)
    return f"qdisc {verb} dev {device} root handle 1: tbf rate {rate}bit burst {size} limit {queue}"


def pair_class(number: int, bandwidth: float, verb: str = "add") -> str:
    """The class of one destination of a crossbar node."""
    rate, size = f"{wire_rate(bandwidth)}bit", burst(bandwidth, _CREDIT)
    return (
        f"class {verb} dev eth0 parent 1: classid 1:{number:x} htb rate {rate} ceil {rate}"
        f" burst {size} cburst {size} quantum {FRAME}"
    )


def node_lines(layout: Layout, node: str) -> list[str]:
    """The `tc` batch for one namespace (compute node or router) before any traffic."""
    if layout.topology.kind == "pairs":
        return _pair_lines(layout, node)
    return [line for line, owner in _bucket_lines(layout) if owner == node]


def fabric_lines(layout: Layout) -> list[str]:
    """The `tc` batch for the switches' ends of the wires."""
    return [line for line, owner in _bucket_lines(layout) if owner in layout.switches]


def change_lines(layout: Layout, rates: Mapping[tuple[str, str], float]) -> dict[str, list[str]]:
    """The `tc` batches, by the name of the node that sends, that set directed links to new `rates` in bit/s."""
    batches: dict[str, list[str]] = {}
    for (source, target), rate in rates.items():
        if layout.topology.kind == "pairs":
            line = pair_class(class_number(layout, target), rate, "change")
        else:
            line = bucket(_device(layout, source, target), rate, "change")
        batches.setdefault(layout.outside(source), []).append(line)
    return batches


def class_number(layout: Layout, destination: str) -> int:
    """The htb class of a destination: its place among the compute nodes, from 1."""
    return list(layout.addresses).index(destination) + 1


def _bucket_lines(layout: Layout) -> list[tuple[str, str]]:
    lines = []
    for wire in layout.wires:
        for port, rate in ((wire.a, wire.rate_ab), (wire.b, wire.rate_ba)):
            if rate is not None:
                lines.append((bucket(port.device, rate), port.owner))
    return lines


def _pair_lines(layout: Layout, node: str) -> list[str]:
    lines = ["qdisc add dev eth0 root handle 1: htb default 0"]
    for number, (other, address) in enumerate(layout.addresses.items(), start=1):
        if (node, other) in layout.rates:
            lines += [
                pair_class(number, layout.rates[node, other]),
                f"qdisc add dev eth0 parent 1:{number:x} handle {number + 1:x}: pfifo limit 200",
                f"filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst {address}/32 flowid 1:{number:x}",
            ]
    return lines


def _device(layout: Layout, source: str, target: str) -> str:
    for wire in layout.wires:
        if {wire.a.owner, wire.b.owner} == {layout.outside(source), layout.outside(target)}:
            return wire.port(layout.outside(source)).device
    raise KeyError((source, target))
