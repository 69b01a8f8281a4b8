"""What README.md and docs/ name is there: addresses, commands with their options, make targets, files."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import typer.main
from django.urls import Resolver404, get_resolver, resolve
from typer.testing import CliRunner

from gridportal.base.portal_settings import PortalSettings
from gridportal.cli import app
from gridportal.testbed import topologies
from gridportal.web import upload_limit

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")])
ADDRESS = re.compile(r"(?:(?<=[\s`(\"])|(?<=\$PORTAL)|(?<=:8000))/[a-z][a-z0-9/._-]*")
COMMAND = re.compile(r"gridportal ((?:[a-z]+ ?)+)((?:[^`\n#|]*))")
OWN = {"api", "healthz", "jobs", "submit", "topology", "applications", "account", "audit", "help", "sign-in", "admin"}


def addresses(page: Path) -> set[str]:
    """What looks like an address of the portal; other paths are files of the machine."""
    found = {match.rstrip(".") for match in ADDRESS.findall(page.read_text(encoding="utf-8"))}
    return {address for address in found if address.strip("/").split("/")[0] in OWN}


def test_the_pages_name_addresses_at_all():
    assert {"/api/docs", "/api/schema", "/api/jobs", "/api"} <= addresses(ROOT / "README.md")
    assert "/healthz" in addresses(ROOT / "docs" / "administrator.md")


def test_every_address_resolves():
    missing = []
    for page in PAGES:
        for address in addresses(page):
            try:
                resolve(address, get_resolver().urlconf_name)
            except Resolver404:
                missing.append((page.name, address))
    assert not missing


def test_every_command_and_option_is_there():
    everything = typer.main.get_command(app)
    wrong = [
        (page.name, f"gridportal {words}{rest}")
        for page in PAGES
        for words, rest in COMMAND.findall(page.read_text(encoding="utf-8"))
        if not _is_known(everything, words.split(), re.findall(r"(?<= )--[a-z-]+", f" {rest.partition(' -- ')[0]}"))
    ]
    assert not wrong


def _is_known(command: Any, words: list[str], options: list[str]) -> bool:
    if words[0] not in command.commands:
        return not options  # prose, such as a folder's name
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if getattr(command, "commands", None) and words:
        return False
    known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    return set(options) <= known


def test_every_make_target_is_there_and_explained_by_make_help():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    phony = set(makefile.partition(".PHONY: ")[2].splitlines()[0].split())
    assert phony <= explained
    named = {page.name: set(re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))) for page in PAGES}
    assert {name: targets - explained for name, targets in named.items() if targets - explained} == {}


def test_every_link_to_a_file_leads_to_one():
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    ]
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_the_example_of_the_command_line_uses_every_top_level_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands: Any = typer.main.get_command(app)
    assert {name for name in commands.commands if f"`gridportal {name}" not in text} == set()


SELECT = re.compile(r"`gridportal (select --topology [^`]+)`")


def test_every_selection_of_the_readme_works_as_it_stands():
    lines = SELECT.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(lines) >= 4
    for line in lines:
        done = CliRunner().invoke(app, shlex.split(line))
        assert (line, done.exit_code) == (line, 0)


BLOCK = re.compile(r"^```(?:json)?\n(\{.*?\})\n```", re.MULTILINE | re.DOTALL)


def examples(page: str) -> list[dict[str, Any]]:
    """The JSON documents that a page shows by themselves."""
    return [json.loads(text) for text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))]


def test_jobs_that_the_readme_submits_find_nodes_on_its_demo(tmp_path):
    """The demo without TOPOLOGY= is crossbar10."""
    jobs = [document for document in examples("README.md") if "application" in document]
    assert len(jobs) == 2
    for job in jobs:
        spec = tmp_path / "spec.json"
        spec.write_text(json.dumps(job.get("specification", {})))
        require = job.get("requirements", {}).get("require", {})
        conditions = [f"--require={label}{condition}" for label, condition in require.items() if condition[0] in "<>"]
        conditions += [f"--require={label}={value}" for label, value in require.items() if value[0] not in "<>"]
        asked = ["--ranks", str(job["ranks"])] if "ranks" in job else []
        pattern = [] if "links" in job.get("specification", {}) else ["--pattern", "ring"]
        line = ["select", "--topology", "crossbar10", "--method", "pattern", *pattern, *asked, *conditions]
        done = CliRunner().invoke(app, [*line, "--spec", str(spec)])
        assert done.exit_code == 0, done.output


def test_the_topology_file_of_the_handbook_can_be_selected_on(tmp_path):
    (document,) = [each for each in examples("docs/selection.md") if "nodes" in each]
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(document))
    line = f"select --topology {file} --ranks 6 --method communication --require mem_gb>=16 --json"
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code == 0, done.output
    assert sorted(json.loads(done.output)["nodes"]) == ["a1"] * 4 + ["b1"] * 2
    text = (ROOT / "docs" / "selection.md").read_text(encoding="utf-8")
    for link in document["links"]:
        assert all(f"`{key}`" in text for key in link)


def test_every_topology_that_ships_is_named_where_one_is_chosen():
    texts = [(ROOT / "README.md").read_text(encoding="utf-8")]
    texts += [CliRunner().invoke(app, [*words, "-h"]).output for words in (["select"], ["testbed", "up"])]
    for text in texts:
        assert {name for name in topologies.names() if not re.search(rf"\b{name}\b(?!-)", text)} == set()


def test_help_and_readme_say_how_one_submits():
    assert "POST /api/jobs" in " ".join(CliRunner().invoke(app, ["-h"]).output.split())
    assert "No command submits a job" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_proxy_of_the_handbook_takes_what_a_job_may_bring():
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", (ROOT / "docs/administrator.md").read_text())
    assert int(megabytes) * 2**20 >= PortalSettings.model_fields["job_input_bytes"].default + upload_limit.REST
