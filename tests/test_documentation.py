"""What README.md and docs/ name is there: addresses, commands with their options, make targets, files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import typer.main
from django.urls import Resolver404, get_resolver, resolve
from typer.testing import CliRunner

from gridportal.cli import app

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
