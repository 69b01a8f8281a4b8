"""`gridportal redistribute plan` as scripts and people use it."""

from __future__ import annotations

import json
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
            "layout is 'block:2x2'; accepted is one of at most",
        ),
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
