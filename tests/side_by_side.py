"""All tests in several processes at once (`--dist loadscope`): what stays together and what starts first.

A process takes whole files, for those with real parts make a Grid, a Slurm or a browser of their own, once. Nothing of
that is seen outside: namespaces, control groups, sockets and state directories have names of their own, ports are free.

Tests with real parts wait for much of their time, those without hardly ever. So all processes but the last take the
first, the longest before all others, and that one fills the processors with the many small files without; these are
what is left at the end, so that all processes end together.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

#: Files of one of these patterns share a Slurm, a browser or Grids, which take seconds to start. Of patterns that fit
#: the first counts.
_BROWSERS = ("tests/browser/test_[p-r]*.py", "tests/browser/test_[s-z]*.py", "tests/browser/*.py")
_TOGETHER = (
    "tests/gridportal/testbed/slurm/*.py",
    "tests/gridportal/slurm/test_real_slurm.py",
    *_BROWSERS,
    "tests/gridportal/testbed/*.py",
)
_GUESTS = {"tests/gridportal/slurm/test_samples.py": _TOGETHER[1]}
#: What takes longest begins first, so that no process is still busy when the others have ended.
_LONG_FIRST = (
    _BROWSERS[0],
    "tests/gridportal/testbed/*.py",
    "tests/applications/test_programs.py",
    "tests/applications/test_own_restarts.py",
    "tests/scheduling/runs/test_live_slurm.py",
    "tests/scheduling/runs/test_life_slurm.py",
    _BROWSERS[1],
    "tests/gridportal/serve/demo/test_demo.py",
    "tests/gridportal/testbed/slurm/*.py",
    "tests/scheduling/runs/test_life_grid.py",
    "tests/gridportal/test_serve.py",
    _BROWSERS[2],
    "tests/gridportal/slurm/test_prefix.py",
    "tests/gridportal/experiments/moves/test_moves.py",
    "tests/gridportal/experiments/test_on_grid.py",
    "tests/scheduling/runs/adapters/test_backends.py",
    "tests/scheduling/checkpoints/test_moves_grid.py",
    "tests/scheduling/profiles/test_profiles_grid.py",
    "tests/scheduling/runs/test_hostile_programs.py",
    "tests/scheduling/runs/test_hostile_on_slurm.py",
    "tests/gridportal/slurm/test_real_slurm.py",
    "tests/gridportal/local/test_local_backend.py",
    "tests/scheduling/pages/test_plans.py",
    "tests/docker/test_commands.py",
)
#: Of those without real parts the same: the first are those of all tests together, which would come last.
_LONG_PLAIN = (
    "tests/test_permissions_matrix.py",
    "tests/test_changed_people.py",
    "tests/gridportal/runtime/srs/test_c_depots.py",
    "tests/gridportal/runtime/srs/test_checkpoints_in_depots.py",
    "tests/scheduling/profiles/tracing/test_library.py",
    "tests/fuzz_api/test_api_fuzz.py",
    "tests/gridportal/runtime/srs/test_c_reader.py",
    "tests/scheduling/profiles/tracing/test_kept_rounds.py",
    "tests/scheduling/skeletons/core/skeleton/test_varied_work.py",
)
_NAMED = (*_LONG_FIRST, *_LONG_PLAIN)
#: How a file says that it has tests with real parts.
_REAL = re.compile(r"mark\.(grid|browser|redis|postgres|slurm|prometheus|ldap)\b")
_CHECKOUT = Path(__file__).parents[1]


def pytest_xdist_make_scheduler(config: Any, log: Any) -> LoadScopeScheduling | None:
    """Ours in place of loadscope's own; None leaves every other way of sharing out as it is."""
    return _Shares(config, log) if config.getvalue("dist") == "loadscope" else None


def share_of(nodeid: str) -> str:
    """The name of what goes to one process with this test."""
    file = nodeid.partition("::")[0]
    pattern = next((pattern for pattern in _TOGETHER if fnmatchcase(file, pattern)), file)
    return _GUESTS.get(pattern, pattern)


def rank(share: str, *, fills: bool = False) -> tuple[bool, int]:
    """Small for what begins early; `fills`: in the process that begins with those without real parts."""
    place = _NAMED.index(share) if share in _NAMED else len(_NAMED)
    return has_real_parts(share) == fills, place


@cache
def has_real_parts(share: str) -> bool:
    """Whether a file, or one that fits a pattern, has tests with real parts."""
    return any(_REAL.search(file.read_text(encoding="utf-8")) for file in _CHECKOUT.glob(share))


class _Shares(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        fills = self.numnodes > 2 and node.gateway.id == f"gw{self.numnodes - 1}"
        self.workqueue.move_to_end(min(self.workqueue, key=partial(rank, fills=fills)), last=False)
        super()._assign_work_unit(node)

    def remove_node(self, node: Any) -> str | None:
        """The test that ran when its process died fails and is not run again; the rest of its work goes to others.

        loadscope itself gives that test back too, and one that always kills its process kills all that take it.
        """
        units = self.assigned_work.pop(node)
        died = next(((unit, test) for unit in units.values() for test, done in unit.items() if not done), None)
        if died is None:
            return None
        unit, test = died
        unit[test] = True
        self.workqueue.update({share: unit for share, unit in units.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return test
