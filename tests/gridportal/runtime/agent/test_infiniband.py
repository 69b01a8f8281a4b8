"""Counters of InfiniBand as the kernel shows them; the figures are those of a host with an mlx4 of two ports and an
mlx5 (recorded by the authors of node_exporter)."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.runtime.agent import infiniband

#: Device, port, what is sent and received in words of four bytes.
RECORDED = (
    ("mlx4_0", 1, 26509113295, 2221223609),
    ("mlx4_0", 2, 26540356890, 2460436784),
    ("mlx5_0", 1, 2880761508848, 18126345378),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for device, port, sent, received in RECORDED:
        counters = tmp_path / device / "ports" / str(port) / "counters"
        counters.mkdir(parents=True)
        (counters / "port_xmit_data").write_text(f"{sent}\n")
        (counters / "port_rcv_data").write_text(f"{received}\n")
        (counters.parent / "state").write_text("4: ACTIVE\n")
        (counters.parent / "link_layer").write_text("InfiniBand\n")
    return tmp_path


def test_bytes_of_all_ports_of_a_device_are_added(folder: Path) -> None:
    assert infiniband.counters(str(folder)) == {
        "mlx4_0": (4 * (26509113295 + 26540356890), 4 * (2221223609 + 2460436784)),
        "mlx5_0": (4 * 2880761508848, 4 * 18126345378),
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("state", "1: DOWN\n"),
        ("link_layer", "Ethernet\n"),
        ("counters/port_xmit_data", "N/A (no PMA)\n"),
        ("counters/port_rcv_data", None),
    ],
)
def test_a_port_that_is_down_another_or_tells_nothing_is_left_out(folder: Path, name: str, text: str | None) -> None:
    file = folder / "mlx5_0" / "ports" / "1" / name
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    assert set(infiniband.counters(str(folder))) == {"mlx4_0"}


def test_a_machine_without_infiniband_has_none(tmp_path: Path) -> None:
    assert infiniband.counters(str(tmp_path / "nowhere")) == {}
