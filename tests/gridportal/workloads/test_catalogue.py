import subprocess
import sys

import pytest

from gridportal.workloads.catalogue import PROGRAMS
from tests.gridportal.workloads import mpi

by_slug = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program["slug"])


def filled(program):
    values = {parameter["name"]: str(parameter["default"]) for parameter in program["parameters"]}
    return [item.format(python=sys.executable, shares="2,1", **values) for item in program["command"]]


def allowed(program):
    ranks = program["ranks"]
    return ranks if isinstance(ranks, list) else range(ranks["min"], ranks["max"] + 1)


@by_slug
def test_the_defaults_run_verified_and_tell_the_phases_promised(program, tmp_path):
    python, dash_m, module, *arguments = filled(program)
    assert (python, dash_m) == (sys.executable, "-m")
    ranks = min(count for count in allowed(program) if count > 1)
    assert mpi.run(ranks, module, *arguments, run_dir=tmp_path).returncode == 0
    told = [event["phase"] for event in mpi.events(tmp_path) if event["event"] == "phase"]
    assert list(dict.fromkeys(told)) == program["phases"]


@by_slug
def test_defaults_keep_to_their_own_limits(program):
    for parameter in program["parameters"]:
        if parameter["type"] == "choice":
            assert parameter["default"] in parameter["choices"]
        else:
            assert parameter["min"] <= parameter["default"] <= parameter["max"]


def test_the_catalogue_needs_neither_numpy_nor_mpi():
    program = "import sys, gridportal.workloads.catalogue; print('numpy' in sys.modules, 'mpi4py' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert done.stdout.split() == ["False", "False"]
