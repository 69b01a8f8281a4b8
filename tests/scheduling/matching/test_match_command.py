"""`gridportal match` as scripts and people use it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from gridportal.base.errors import GridPortalError
from gridportal.network.topology import parse
from scheduling.matching.core.topology_ads import bandwidths_between
from scheduling.resource_requests.commands import match
from scheduling.resource_requests.commands.match import match_command
from tests.scheduling.matching.papers_texts import CACTUS_LISTING, CACTUS_REQUEST

APP = typer.Typer()
APP.command("match")(match_command)

MACHINES = "\n".join(
    f'[ machine="{name}"; processors={cpus}; MemorySize={memory}; cpuspeed={speed}; os="{os}"; '
    "RLatency=0.1; LLatency=0.1; RBandwidth=1e6; LBandwidth=1.2e6 ]"
    for name, cpus, memory, speed, os in (
        ("torc1.cs.utk.edu", 2, 6, 547, "redhat6.1"),
        ("torc2.cs.utk.edu", 2, 6, 547, "redhat6.1"),
        ("o.ucsd.edu", 1, 6, 400, "redhat6.1"),
        ("fast.uiuc.edu", 4, 64, 2000, "solaris"),
    )
)


@pytest.fixture
def run(tmp_path: Path):
    """Runs the command on a request and resources."""
    ads = tmp_path / "pool.ads"
    ads.write_text(MACHINES)

    def go(request: str, *options: str, resources: str | None = None) -> Result:
        (tmp_path / "request.ad").write_text(request)
        if resources is not None:
            ads.write_text(resources)
        return CliRunner().invoke(APP, [str(tmp_path / "request.ad"), str(ads), *options])

    return go


@pytest.mark.parametrize("text", [CACTUS_REQUEST, CACTUS_LISTING], ids=["request", "listing"])
def test_the_request_of_the_paper_is_answered(run, text: str) -> None:
    result = run(text, "--format", "json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["status"] == {"code": 200, "message": "OK"}
    assert {machine["dns"] for machine in made["machines"]} == {"torc1.cs.utk.edu", "torc2.cs.utk.edu", "o.ucsd.edu"}
    assert sum(machine["share"] for machine in made["machines"]) == 100
    assert [machine["dns"] for machine in made["machines"]][-1] == "o.ucsd.edu"
    assert made["exact"] is True
    assert made["mapper"]["failure"] == ""


def test_the_xml_is_the_papers_and_well_formed(run) -> None:
    root = ElementTree.fromstring(run(CACTUS_REQUEST, "--format", "xml").stdout)
    assert root.tag == "virtualMachine"
    result = root.find("result")
    assert result is not None
    assert result.attrib == {"statusCode": "200", "statusMessage": "OK"}
    machines = root.findall("machineList/machine")
    assert machines[0].attrib.keys() == {"dns", "processor", "x"}
    assert sum(int(machine.attrib["x"]) for machine in machines) == 100


def test_nothing_found_is_a_failure_that_says_why(run) -> None:
    result = run('[Type="Set"; requirements = other.os == "linux" && other.cpuspeed > 500; rank = SetSize]', "--json")
    assert result.exit_code == 1
    made = json.loads(result.stdout)
    assert made["status"]["code"] == 404
    assert made["status"]["message"] == "No resource meets all requirements on each resource."
    assert (made["machines"], made["rank"]) == ([], None)


def test_the_explanation_of_nothing_names_the_smallest_change(run) -> None:
    request = '[Type="Set"; requirements = Sum(other.MemorySize) >= 100 && other.os == redhat6.1; rank = SetSize]'
    made = json.loads(run(request, "--explain", "--json").stdout)["explanation"]
    by_text = {clause["text"]: clause for clause in made["clauses"]}
    of_each, memory = by_text["other.os == redhat6.1"], by_text["Sum(other.MemorySize) >= 100"]
    assert (of_each["kind"], of_each["passing"], of_each["satisfiable"]) == ("resource", 3, None)
    assert (memory["kind"], memory["passing"], memory["left_without"]) == ("set", None, None)
    assert (memory["satisfiable"], memory["matches_without"]) == (False, True)
    assert (memory["best"], memory["asked"]) == (18.0, 100.0)
    table = run(request, "--explain").output
    assert "The smallest change: ask for >= 18 in Sum(other.MemorySize) >= 100." in table
    assert "redhat6.1 is read as the text" in table
    assert "Nearest" in table


def test_clauses_that_exclude_each_other_are_named(run) -> None:
    request = '[Type="Set"; requirements = other.cpuspeed > 500 && other.processors == 1; rank = SetSize]'
    made = json.loads(run(request, "--explain", "--json").stdout)["explanation"]
    assert [(clause["passing"], clause["left_without"], clause["conflicts"]) for clause in made["clauses"]] == [
        (3, 1, [1]),
        (1, 3, [0]),
    ]
    assert made["clauses"][0]["best"] == 400.0
    assert len(made["smallest_change"]) == 1


def test_the_explanation_of_a_match_has_the_sets_beside_it(run) -> None:
    made = json.loads(run(CACTUS_REQUEST, "--explain", "--json").stdout)["explanation"]
    assert (made["pool"], made["passing"]) == (4, 3)
    total, slowest = made["aggregates"]
    assert (total["text"], total["value"]) == ("Sum(other.MemorySize)", 18.0)
    assert slowest["binding"] == "o.ucsd.edu"
    (less,) = made["rejected"]
    assert (less["how"], less["leaves"], less["unmet"]) == ("one_less", "o.ucsd.edu", 1)


def test_people_get_a_table(run) -> None:
    result = run(CACTUS_REQUEST, "--explain")
    assert result.exit_code == 0
    for part in ("3 machines", "torc1.cs.utk.edu", "every set was tried", "without o.ucsd.edu", "1 requirement unmet"):
        assert part in result.output
    assert "Nearest" not in result.output  # a column for what was not found


@pytest.mark.parametrize(
    ("request_text", "options", "message"),
    [
        ("[a = )]", (), "request.ad, line 1, column 6 is ')'; accepted is a value"),
        ('[Type="Set"; rank = Min(Max(other.a))]', (), "Max(other.a) is about the whole set, but Min is over"),
        ("[]", ("--format", "yaml"), "--format is 'yaml'; accepted is json or xml."),
        ("[]", ("--seconds", "0"), "--seconds is 0"),
        ("[] []", (), "column 4 is '['; accepted is one ad."),
    ],
)
def test_bad_input_is_one_sentence(run, request_text: str, options: tuple[str, ...], message: str) -> None:
    result = run(request_text, *options)
    assert result.exit_code == 2
    assert message in result.output


def test_a_fault_is_shown_below_its_line(run) -> None:
    result = run('[Type = "Set";\n rank = Min(other.a +) ]')
    assert result.exit_code == 2
    assert " rank = Min(other.a +) ]\n                     ^" in result.output


NETWORK = {
    "nodes": [
        *({"id": f"n{i}", "cpu": i / 10, "site": "utk" if i % 2 else "uiuc", "mem_gb": 4} for i in range(1, 7)),
        {"id": "s", "kind": "network"},
    ],
    "links": [{"source": f"n{i}", "target": "s", "capacity": 1e8, "bandwidth": 1e8 - i * 1e7} for i in range(1, 7)],
}


def test_nodes_of_a_topology_are_resources(tmp_path: Path) -> None:
    (tmp_path / "network.json").write_text(json.dumps(NETWORK))
    (tmp_path / "r.ad").write_text(
        '[Type="Set"; requirements = other.site == "utk" && Sum(other.memory) >= 8G; rank = Min(other.bandwidth); '
        'Mapper = [name = "line"; total = 8]]'
    )
    result = CliRunner().invoke(
        APP, [str(tmp_path / "r.ad"), "--topology", str(tmp_path / "network.json"), "--format", "json"]
    )
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["machines"] == [
        {"dns": "n3", "processors": 1, "share": 6},
        {"dns": "n1", "processors": 1, "share": 2},
    ]
    assert made["rank"] == 7e7


def test_the_mapper_is_told_what_pairs_of_nodes_have() -> None:
    assert bandwidths_between(parse(NETWORK), ["n1", "n6", "n2"]) == {"0-1": 4e7, "0-2": 8e7, "1-2": 4e7}


@pytest.mark.parametrize(
    "options", [(), ("--topology", "grads", "--cluster", "x"), ("pool.ads", "--topology", "grads")]
)
def test_resources_come_from_one_place(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(APP, ["request.ad", *options])
    assert result.exit_code == 2
    assert "accepted is one of RESOURCES.ads, --topology and --cluster." in result.output


def test_files_that_are_not_there_or_no_text_are_named(tmp_path: Path) -> None:
    binary = tmp_path / "b.ad"
    binary.write_bytes(b"\xff\xfe[")
    for path in (tmp_path / "none.ad", binary):
        result = CliRunner().invoke(APP, [str(path), str(binary)])
        assert result.exit_code == 2
        assert result.output.startswith("REQUEST.ad is ")


def test_an_expression_that_grows_without_end_ends_in_a_sentence(run) -> None:
    grown = "".join(f"a{n} = join(a{n - 1}, a{n - 1}, a{n - 1});" for n in range(1, 30))
    request = f'[Type="Set"; a0 = "aaaaaaaaaaaaaaaa"; {grown} requirements = size(a29) > 1; rank = SetSize]'
    result = run(request, "--json", resources="[a=1]")
    assert result.exit_code == 2
    assert "This expression is too large to be evaluated: size(a29) > 1" in result.output


@pytest.mark.parametrize("clause", ["a52 > 1", "Sum(a52) > 1"])
def test_what_the_library_gives_up_is_not_told_as_no_match(run, clause: str) -> None:
    doubled = "".join(f"a{n} = a{n - 1} + a{n - 1};" for n in range(1, 53))
    result = run(f'[Type="Set"; a0 = 1; {doubled} requirements = {clause}; rank = 1]', "--explain", resources="[a=1]")
    assert result.exit_code == 2
    assert "column" in result.output
    assert "This expression is too large to be evaluated: " in result.output


def test_requirements_of_resources_that_are_given_up_leave_the_others(run) -> None:
    doubled = "".join(f"a{n} = a{n - 1} + a{n - 1};" for n in range(1, 53))
    large = f'[ machine = "b"; a0 = 1; {doubled} requirements = a52 > 1 ]'
    result = run("[ rank = 1 ]", "--json", resources=f'[ machine = "a" ] {large}')
    assert [each["dns"] for each in json.loads(result.stdout)["machines"]] == ["a"]
    assert json.loads(result.stdout)["warnings"] == [
        "the requirements of some resources are too large to be evaluated; these are left out"
    ]


def test_a_file_without_an_end_and_one_that_is_too_long_are_refused(tmp_path, monkeypatch) -> None:
    request = tmp_path / "r.ad"
    request.write_text("[]")
    result = CliRunner().invoke(APP, [str(request), "/dev/zero"])
    assert (result.exit_code, result.output) == (
        2,
        "RESOURCES.ads is '/dev/zero'; accepted is a file of text, or a pipe.\n",
    )
    monkeypatch.setattr(match, "LONGEST_RESOURCES", 10)
    for text in ("[ a = 123 ]", "x" * 100):
        (tmp_path / "long.ads").write_text(text)
        result = CliRunner().invoke(APP, [str(request), str(tmp_path / "long.ads")])
        assert result.exit_code == 2
        assert "accepted is a file of at most 10 characters" in result.output


def test_the_seconds_bound_the_whole_match(tmp_path, monkeypatch) -> None:
    ends: list[float] = []

    def ended(question, until):
        ends.append(until - time.monotonic())
        raise GridPortalError("The match was ended.")

    monkeypatch.setattr(match, "limited_match", ended)
    for name in ("r.ad", "s.ads"):
        (tmp_path / name).write_text("[]")
    for more in ([], ["--explain"]):
        CliRunner().invoke(APP, [str(tmp_path / "r.ad"), str(tmp_path / "s.ads"), "--seconds", "5", *more])
    assert ends[0] <= 20.0 < ends[1] <= 25.0


def test_the_lines_of_the_readme_and_of_the_guide_run(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)
    for page in ("README.md", "docs/matching.md"):
        (words,) = re.findall(r"gridportal match (docs/\S+ docs/\S+?)[ `]", (root / page).read_text(encoding="utf-8"))
        found = CliRunner().invoke(APP, [*words.split(), "--explain", "--format", "json"])
        assert found.exit_code == 0, found.output
        assert [machine["dns"] for machine in json.loads(found.stdout)["machines"]] == ["n1", "n4"]


def test_names_of_machines_command_no_terminal(run) -> None:
    result = run('[ requirements = other.cpus > 1; owner = "x" ]', resources='[ machine = "a\x1b[2Jb"; cpus = 2 ]')
    assert "a\\x1b[2Jb" in result.stdout
    assert "\x1b" not in result.output
