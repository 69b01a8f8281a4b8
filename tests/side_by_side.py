"""Tests with real parts in several processes at once (`--dist loadscope`): what stays together and what starts first.

A process takes whole files, for most of these make a Grid, a Slurm or a browser of their own, once. Nothing of that is
seen outside: namespaces, control groups, sockets and state directories have names of their own, ports are free ones.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling

#: Files of these folders share a Slurm that takes seconds to start.
_TOGETHER = ("tests/gridportal/testbed/slurm", "tests/gridportal/slurm/test_real_slurm.py")
_GUESTS = {"tests/gridportal/slurm/test_samples.py": _TOGETHER[1]}
#: What takes longest begins first, so that no process is still busy when the others have ended.
_LONG_FIRST = (
    "tests/scheduling/runs/test_life_slurm.py",
    "tests/gridportal/serve/demo/test_demo.py",
    "tests/gridportal/testbed/slurm",
    "tests/scheduling/runs/test_live_slurm.py",
    "tests/scheduling/runs/test_life_grid.py",
    "tests/gridportal/slurm/test_prefix.py",
    "tests/gridportal/testbed/test_life.py",
    "tests/scheduling/runs/adapters/test_backends.py",
    "tests/gridportal/test_serve.py",
    "tests/applications/test_programs.py",
    "tests/scheduling/runs/test_hostile_programs.py",
    "tests/gridportal/testbed/test_isolation.py",
    "tests/scheduling/runs/test_hostile_on_slurm.py",
    "tests/gridportal/slurm/test_real_slurm.py",
    "tests/gridportal/local/test_local_backend.py",
)
#: After all others: these empty the whole database, with what migrations have put there.
_LAST = "tests/browser/"


def pytest_xdist_make_scheduler(config: Any, log: Any) -> LoadScopeScheduling | None:
    """Ours in place of loadscope's own; None leaves every other way of sharing out as it is."""
    return _Shares(config, log) if config.getvalue("dist") == "loadscope" else None


def share_of(nodeid: str) -> str:
    """The name of what goes to one process with this test."""
    file = nodeid.partition("::")[0]
    folder = next((name for name in _TOGETHER if file.startswith(f"{name}/")), file)
    return _GUESTS.get(folder, folder)


def rank(share: str) -> tuple[bool, int]:
    """Small for what begins early."""
    return share.startswith(_LAST), _LONG_FIRST.index(share) if share in _LONG_FIRST else len(_LONG_FIRST)


class _Shares(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=rank), last=False)
        super()._assign_work_unit(node)
