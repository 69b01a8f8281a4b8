"""`gridportal redistribute plan` as scripts and people use it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gridportal.base.errors import InputError
from scheduling.checkpoints.commands.redistribute import app

PAPER = ("--from", "block-cyclic:64x64:2x2", "--to", "block-cyclic:32x32:2x4", "--shape", "12000,12000")
MOVE = ("--topology", "grads", "--nodes-from", "msc[1-4]", "--nodes-to", "opus[1-8]")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["plan", *words])


def told(*words: str) -> dict[str, Any]:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_json_has_maps_messages_bytes_and_seconds() -> None:
    plan = told(*PAPER, *MOVE)
    assert plan["bytes"] == sum(message["bytes"] for message in plan["messages"]) == 12000 * 12000 * 8
    assert plan["bytes"] == sum(pair["bytes"] for pair in plan["nodes"])
    assert {(m["source"], m["target"]) for m in plan["messages"]} >= {(0, 0), (3, 7)}
    for side, ranks in (("from", 4), ("to", 8)):
        assert sum(each["bytes"] for each in plan[side]["ranks"]) == plan["bytes"]
        assert len(plan[side]["ranks"]) == ranks
    assert plan["from"]["ranks"][0] == {"rank": 0, "shape": [6016, 6016], "bytes": 289_538_048, "panels": 94 * 94}
    assert plan["seconds"] >= plan["bytes"] * 8 / 20e6  # of the link between the sites, which all cross


def test_without_nodes_nothing_is_said_of_seconds() -> None:
    assert (told(*PAPER)["seconds"], told(*PAPER)["nodes"]) == (None, [])


def test_a_part_that_stays_with_its_rank_is_a_message_too() -> None:
    plan = told("--from", "block:2", "--to", "block:2", "--shape", "10", "--dtype", "i4")
    assert plan["messages"] == [{"source": 0, "target": 0, "bytes": 20}, {"source": 1, "target": 1, "bytes": 20}]


def test_people_get_tables_and_a_sentence() -> None:
    done = run(*PAPER, *MOVE)
    assert "1,152,000,000 bytes in 16 messages." in done.stdout
    assert "when all ranks read at once" in done.stdout
    assert "From block-cyclic:64x64:2x2" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--from", "blok:4", "--to", "block:2", "--shape", "10"), "--from is 'blok:4'; accepted is replicated:P"),
        (("--from", "block:4", "--to", "block:2", "--shape", "10,x"), "--shape is '10,x'; accepted is whole numbers"),
        (("--from", "block:4", "--to", "block:2", "--shape", "10", "--dtype", "O"), "--dtype is 'O'; accepted"),
        (("--from", "block:4", "--to", "block:2", "--shape", "10", "--dtype", "f99"), "--dtype is 'f99'; accepted"),
        (
            ("--from", "block:2x2", "--to", "block:2", "--shape", "10"),
            "--from is 'block:2x2'; accepted is one of at most",
        ),
        (
            ("--from", "shares:3,4", "--to", "block:2", "--shape", "10"),
            "--from is 'shares:3,4'; accepted is shares that",
        ),
        (("--from", "block:4", "--to", "block:2", "--shape", "9" * 40), "of up to 15 digits"),
        (
            ("--from", "block:1000000", "--to", "block:2", "--shape", "100"),
            "--from is 'block:1000000'; accepted is a la",
        ),
        (
            ("--from", "cyclic:4096", "--to", "block-cyclic:2:4095", "--shape", "9" * 12),
            "--to is 'block-cyclic:2:4095'; accepted is a layout that shares at most 1,048,576 pieces with cyclic:4096",
        ),
        (
            ("--from", "block:64x64", "--to", "cyclic:64x64", "--shape", "999999,999999"),
            "--to is 'cyclic:64x64'; accepted is a layout with at most 262,144 messages from block:64x64",
        ),
        (
            (*PAPER, "--nodes-from", "msc[1-4", "--nodes-to", "opus[1-8]"),
            "--nodes-from is 'msc[1-4'; accepted is a Slu",
        ),
        ((*PAPER, *MOVE[:2], "--nodes-from", "no[1-4]", *MOVE[4:]), "--nodes-from is 'no1'; accepted is nodes of the"),
        ((*PAPER, "--nodes-from", "msc[1-4]"), "--nodes-to is empty; accepted is the nodes of all ranks"),
        ((*PAPER, *MOVE[:4], "--nodes-to", "opus[1-7]"), "--nodes-to is 'opus1,opus2"),
        ((*PAPER, "--topology", "grads"), "--topology is 'grads'; accepted is one with --nodes-from and --nodes-to"),
        ((*PAPER, "--capacity", "10G"), "--capacity is '10G'; accepted is a rate for the links of a topology"),
        ((*PAPER, *MOVE[:4], "--nodes-to", "opus[1-7],opus9"), "opus9"),
    ],
)
def test_bad_input_is_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    done = run(*words)
    assert isinstance(done.exception, InputError)
    assert sentence in str(done.exception)


def test_an_array_without_elements_has_nothing_to_move() -> None:
    empty = ("--from", "block:4", "--to", "block:8", "--shape", "0")
    assert run(*empty).output.endswith("An array without elements has nothing to move: no bytes, and no time.\n")
    plan = told(*empty, *MOVE)
    assert (plan["bytes"], plan["messages"], plan["nodes"], plan["seconds"]) == (0, [], [], 0)


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "block-cyclic:1:1000", "--to", "block-cyclic:3:1000", "--shape", "999999999999"),
        ("--from", "cyclic:7", "--to", "block:11", "--shape", "10000000000"),
        ("--from", "cyclic:2x2", "--to", "cyclic:4x1", "--shape", "99999999999,99999999999"),
    ],
)
def test_long_arrays_are_planned_from_what_repeats(words: tuple[str, ...]) -> None:
    plan = told(*words)
    length = 8 * math.prod(int(word) for word in words[-1].split(","))
    assert plan["bytes"] == sum(each["bytes"] for each in plan["to"]["ranks"]) == length
