"""Builds the network of a layout with `ip` and `tc` batches: bridges and wires in the fabric, then each namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base.errors import ShellError
from gridportal.testbed import shaping
from gridportal.testbed.hops import Hop, hops
from gridportal.testbed.layout import Layout, Port
from gridportal.testbed.spawn import Spawner

_LIMIT = 20.0


def build(layout: Layout, holders: Mapping[str, int]) -> None:
    """Build it all from within the fabric namespace.

    `holders` gives for each compute node and router the process that holds its namespaces. Raises ShellError with the
    words of the kernel when something is not permitted or not there.
    """
    ip(None, fabric_lines(layout, holders))
    tc(None, shaping.fabric_lines(layout))
    tables = hops(layout)
    for space in layout.spaces:
        ip(holders[space], space_lines(layout, space, tables[space]))
        tc(holders[space], shaping.node_lines(layout, space))


async def apply_rates(
    layout: Layout, holders: Mapping[str, int], rates: Mapping[tuple[str, str], float], spawner: Spawner
) -> None:
    """Set directed links to new rates in bit/s, while the daemon's other work goes on. Raises ShellError."""
    for owner, lines in shaping.change_lines(layout, rates).items():
        code, output = await spawner.run(_within(holders.get(owner), "tc"), _LIMIT, _text(lines))
        _check("tc", code, output)


def fabric_lines(layout: Layout, holders: Mapping[str, int]) -> list[str]:
    """The `ip` batch that makes the bridges and both ends of every wire where they belong."""
    lines = ["link set lo up"]
    for index in range(len(layout.switches)):
        lines += [f"link add br{index} mtu {shaping.MTU} type bridge stp_state 0", f"link set br{index} up"]
    for wire in layout.wires:
        lines.append(f"link add {_end(wire.a, holders)} type veth peer {_end(wire.b, holders)}")
        for port in (wire.a, wire.b):
            if port.owner in layout.switches:
                bridge = layout.switches.index(port.owner)
                lines.append(f"link set {port.device} master br{bridge} up")
    return lines


def space_lines(layout: Layout, space: str, table: Sequence[Hop]) -> list[str]:
    """The `ip` batch for one compute node or router: its address, devices, neighbours and routes."""
    lines = ["link set lo up"]
    devices = [port.device for wire in layout.wires for port in (wire.a, wire.b) if port.owner == space]
    own = layout.addresses.get(space)
    whole = f" gso_max_size {shaping.MTU}" if layout.topology.kind == "pairs" else ""
    for device in devices:
        lines.append(f"link set {device}{whole} up")
    if own:
        lines.append(f"addr add {own}/32 dev {devices[0] if devices else 'lo'}")
    source = f" src {own}" if own else ""
    for hop in table:
        address = layout.addresses[hop.destination]
        lines.append(f"neigh replace {address} lladdr {hop.mac} dev {hop.device} nud permanent")
        lines.append(f"route replace {address}/32 dev {hop.device}{source}")
    return lines


def prepare_space(forward: bool) -> None:
    """Set this network namespace's switches: no IPv6, forwarding for routers, one congestion control everywhere.

    The host's default may be bbr, which shares links differently; reno is the one that every kernel has and that
    unprivileged namespaces may choose.
    """
    wanted = {"net/ipv6/conf/all/disable_ipv6": "1", "net/ipv6/conf/default/disable_ipv6": "1"}
    wanted["net/ipv4/tcp_congestion_control"] = "reno"
    wanted["net/ipv4/tcp_no_metrics_save"] = "1"
    wanted["net/ipv4/tcp_slow_start_after_idle"] = "0"
    if forward:
        wanted["net/ipv4/ip_forward"] = "1"
    for name, value in wanted.items():
        path = Path("/proc/sys") / name
        if path.exists():
            path.write_text(value, encoding="ascii")


def ip(holder: int | None, lines: Sequence[str]) -> None:
    """Run an `ip` batch in the network namespace of process `holder` (None: this one)."""
    _batch("ip", holder, lines)


def tc(holder: int | None, lines: Sequence[str]) -> None:
    """Run a `tc` batch in the network namespace of process `holder` (None: this one)."""
    _batch("tc", holder, lines)


def _batch(program: str, holder: int | None, lines: Sequence[str]) -> None:
    if lines:
        done = shell.run(_within(holder, program), timeout=_LIMIT, stdin=_text(lines), check=False)
        _check(program, done.returncode, done.stderr)


def _within(holder: int | None, program: str) -> list[str]:
    inside = ["nsenter", "-t", str(holder), "-n", "--"] if holder else []
    return [*inside, program, "-batch", "-"]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _check(program: str, code: int, output: str) -> None:
    if code != 0:
        lines = output.strip().splitlines()
        raise ShellError(f"{program} failed: {lines[0] if lines else 'no output'}")


def _end(port: Port, holders: Mapping[str, int]) -> str:
    place = f" netns {holders[port.owner]}" if port.owner in holders else ""
    return f"name {port.device}{place} mtu {shaping.MTU} address {port.mac}"
