"""Free memory is what machine and control groups leave; files in memory are no use that counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.runtime.srs.free_memory import free_memory

MEGABYTE = 2**20


def machine(at: Path, group: str) -> Path:
    (at / "self").mkdir(parents=True)
    (at / "meminfo").write_text("MemTotal: 2048 kB\nMemAvailable: 1048576 kB\n")
    (at / "self" / "cgroup").write_text(group)
    return at


@pytest.mark.parametrize(
    ("line", "folder", "names", "prefix"),
    [
        ("0::/node\n", "node", ("memory.max", "memory.current"), ""),
        ("5:memory:/node\n", "memory/node", ("memory.limit_in_bytes", "memory.usage_in_bytes"), "total_"),
    ],
)
def test_a_group_leaves_its_limit_less_what_is_no_file(
    line: str, folder: str, names: tuple[str, str], prefix: str, tmp_path: Path
) -> None:
    processes, group = machine(tmp_path / "proc", line), tmp_path / "groups" / folder
    group.mkdir(parents=True)
    for name, size in zip(names, (256, 200), strict=True):
        (group / name).write_text(f"{size * MEGABYTE}\n")
    assert free_memory(processes, tmp_path / "groups") == 56 * MEGABYTE
    stat = f"anon 1\n{prefix}inactive_file {30 * MEGABYTE}\n{prefix}active_file {50 * MEGABYTE}\n"
    (group / "memory.stat").write_text(stat)
    assert free_memory(processes, tmp_path / "groups") == 136 * MEGABYTE


def test_without_limits_it_is_what_the_machine_has(tmp_path: Path) -> None:
    processes, group = machine(tmp_path / "proc", "0::/\n"), tmp_path / "groups"
    group.mkdir()
    (group / "memory.max").write_text("max\n")
    assert free_memory(processes, group) == 1024 * MEGABYTE
    assert free_memory(tmp_path / "none", group) == 0
