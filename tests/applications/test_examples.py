"""The examples of docs/applications.md: what they say can be registered, and their scripts do what they promise."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.output_search import Budget, OutputFindings, search_text
from scheduling.runs.core.progress import read
from tests.applications import cases
from tests.applications.conftest import EXAMPLES
from tests.scheduling.portal import wait_for

PROGRESS = str(EXAMPLES / "progress")


@pytest.mark.parametrize("name", ["lammps.json", "lammps-plain.json", "hpcc.json", "cp-silicon.json"])
def test_an_example_can_be_sent_to_the_api_as_it_is(client_as: Callable[..., Any], name: str) -> None:
    body = (EXAMPLES / name).read_text()
    answer = client_as("administrator").post("/api/applications/", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    sent, kept = json.loads(body), answer.json()
    assert {name: kept[name] for name in sent if name != "parameters"} == {
        name: value for name, value in sent.items() if name != "parameters"
    }


def test_what_progress_appends_is_what_the_portal_reads(tmp_path: Path) -> None:
    for words in ("begin", "phase solve 0.5 2 10", "phase write -", "result true - norm=1e-9 atoms=4000"):
        tell = [PROGRESS, *words.split()]
        subprocess.run(tell, env={"GRIDPORTAL_RUN_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True, timeout=20)
    found = read((tmp_path / "progress.jsonl").read_bytes())
    assert found.garbage == 0
    assert [(phase.name, phase.iteration, phase.of) for phase in found.phases] == [
        ("solve", 2, 10),
        ("write", None, None),
    ]
    assert found.phases[0].seconds == 0.5
    assert found.result is not None
    assert (found.result.verified, found.result.figures) == (True, {"norm": 1e-9, "atoms": 4000})


@pytest.mark.parametrize(("ranks", "grid"), [(1, "1 1"), (6, "2 3"), (7, "1 7"), (16, "4 4")])
def test_hpcc_run_puts_the_ranks_in_a_grid_as_square_as_can_be(tmp_path: Path, ranks: int, grid: str) -> None:
    write = "printf 'Success=1\\nHPL_Tflops=0.5\\nPTRANS_GBs=1\\nMPIRandomAccess_GUPs=1\\nStarSTREAM_Triad=1\\n"
    write += "RandomlyOrderedRingBandwidth_GBytes=1\\nRandomlyOrderedRingLatency_usec=2\\n' > hpccoutf.txt"
    launched = [str(EXAMPLES / "hpcc-run"), str(ranks), "sh", "-c", write, "500"]
    printed = subprocess.run(launched, cwd=tmp_path, check=True, timeout=20, capture_output=True, text=True).stdout
    lines = (tmp_path / "hpccinf.txt").read_text().splitlines()
    assert " ".join(line.split()[0] for line in (lines[10], lines[11])) == grid
    found = _in_output("hpcc.json", printed)
    assert found.success is not None
    assert found.failure is None
    assert found.numbers["ring latency"] == 2


def test_hpcc_run_passes_on_a_failure_and_a_failed_residual(tmp_path: Path) -> None:
    start = [str(EXAMPLES / "hpcc-run"), "2", "sh", "-c"]
    assert subprocess.run([*start, "exit 7", "500"], cwd=tmp_path, timeout=20).returncode == 7
    wrong = "printf '  1 tests completed and failed residual checks,\\nSuccess=1\\n' > hpccoutf.txt"
    printed = subprocess.run([*start, wrong, "500"], cwd=tmp_path, timeout=20, capture_output=True, text=True).stdout
    failure = _in_output("hpcc.json", printed).failure
    assert failure is not None
    assert failure.line == "1 tests completed and failed residual checks,"


#: Stands for cp.x: ten steps further each time, and says how it was started.
CP = """
read() { sed -n "s/.*$1='*\\([a-z_0-9/.-]*\\).*/\\1/p" cp.in; }
done=$(( $(cat steps 2> /dev/null || echo 0) + 10 )); echo $done > steps
mkdir -p "$(read outdir)si_$(read ndw).save"
echo "  <STEP ITERATION=\\"$done\\">" > "$(read outdir)si_$(read ndw).save/data-file-schema.xml"
echo "$(read restart_mode) $(read nstep) $(read ndr) $(read ndw)" >> started
if [ $done = 20 ]; then touch $ASKED; fi
exit "$CODE"
"""


@pytest.mark.parametrize(
    ("asked", "code", "started"),
    [
        ("nothing", 0, 1),
        ("checkpoint", 0, 2),
        ("checkpoint stop", 0, 2),
        ("checkpoint", 7, 1),
    ],
)
def test_cp_run_starts_cp_x_again_after_a_checkpoint_and_not_after_a_stop_or_a_failure(
    tmp_path: Path, asked: str, code: int, started: int
) -> None:
    """It is asked at once, and after its second start again."""
    if asked != "nothing":
        (tmp_path / "checkpoint").touch()
    environment = {"PATH": "/usr/bin:/bin", "ASKED": asked, "CODE": str(code)}
    words = ["sh", str(EXAMPLES / "cp-run"), "sh", "-c", CP, "cp.x", "-in", "cp.in", "folder=files", "steps=25"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, timeout=20, check=False)
    lines = (tmp_path / "started").read_text().splitlines()
    assert done.returncode == code
    asked_again = asked == "checkpoint" and not code
    assert lines == ["from_scratch 25 50 51", "restart 15 51 50", "restart 5 50 51"][: started + asked_again]


def test_what_ends_cp_run_ends_its_launcher(tmp_path: Path) -> None:
    launcher = 'trap "echo ended > ended; exit 5" TERM; touch begun; while :; do sleep 0.05; done'
    words = ["sh", str(EXAMPLES / "cp-run"), "sh", "-c", launcher, "cp.x", "folder=files", "steps=25"]
    running = subprocess.Popen(words, cwd=tmp_path)
    wait_for((tmp_path / "begun").exists, "the launcher")
    running.terminate()
    assert running.wait(20) == 5
    assert (tmp_path / "ended").exists()


def _in_output(name: str, printed: str) -> OutputFindings:
    """What the patterns of an example find."""
    patterns = OutputPatterns.read(json.loads((EXAMPLES / name).read_text())["output_patterns"])
    return search_text(printed, patterns, Budget(1.0, lambda: 0.0))


def _examples_of_output() -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
    """The patterns, the output and what they find in it, of each example of the handbook."""
    handbook = (EXAMPLES.parent / "applications.md").read_text()
    section = handbook.partition("## A check from its output")[2].partition("\n## ")[0]
    blocks = re.findall(r"```\w*\n(.*?)```", section, re.DOTALL)
    return [(json.loads(blocks[i]), blocks[i + 1], json.loads(blocks[i + 2])) for i in range(0, len(blocks), 3)]


def test_patterns_of_the_handbook_find_what_it_says() -> None:
    examples = _examples_of_output()
    assert len(examples) == 3
    for document, output, findings in examples:
        found = search_text(output, OutputPatterns.read(document), Budget(1.0, lambda: 0.0))
        assert {
            "verified": False if found.failure else True if found.success else None,
            "seconds": found.seconds.value if found.seconds else None,
            "figures": found.numbers,
        } == findings


def test_patterns_of_output_go_through_the_api_as_they_are(client_as: Callable[..., Any]) -> None:
    patterns = _examples_of_output()[1][0]
    fields = {"slug": "solver", "name": "Solver", "command": ["/opt/solver"], "output_patterns": patterns}
    client = client_as("administrator")
    answer = client.post("/api/applications/", json.dumps(fields), content_type="application/json")
    assert (answer.status_code, answer.json()["output_patterns"]) == (201, patterns)
    assert client.get("/api/applications/solver/").json()["output_patterns"] == patterns
    wrong = {**fields, "slug": "other", "output_patterns": {"success": "("}}
    answer = client.post("/api/applications/", json.dumps(wrong), content_type="application/json")
    assert (answer.status_code, "success" in answer.content.decode()) == (400, True)


def test_the_table_of_what_was_tried_is_that_of_the_cases() -> None:
    page = (EXAMPLES.parent / "applications.md").read_text(encoding="utf-8")
    found = [line for line in page.splitlines() if line.startswith("|") and line.count("|") == 5]
    rows = "\n".join(found[found.index(cases.table().splitlines()[0]) :])
    assert rows == cases.table(), "python -m tests.applications.cases prints it"
