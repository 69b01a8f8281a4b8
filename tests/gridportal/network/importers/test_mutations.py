"""Files that were cut, mixed up or written by a hostile hand are answered in sentences, never by a traceback."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import GridPortalError
from gridportal.network.importers import read
from tests.examples import examples

FABRIC = Path(__file__).with_name("fabric.ibnetdiscover").read_text(encoding="utf-8")
CONF = """\
# leaf switches
SwitchName=s1 Nodes=n[1-2] LinkSpeed=10G
SwitchName=s2 Nodes=n[03-06],gpu1 LinkSpeed=40000
SwitchName=top Switches=s[1-2] LinkSpeed="100 Gb/s"
"""
BLOCKS = "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n"
OWN = json.dumps(
    {
        "graph": {"name": "net", "kind": "links"},
        "nodes": [{"id": "a", "speed": 1, "cpu": 0.5}, {"id": "b"}, {"id": "s", "kind": "network"}],
        "links": [{"source": "a", "target": "s", "capacity": 1e8}, {"source": "s", "target": "b", "capacity": 1e8}],
    },
    indent=1,
)
PIECES = st.sampled_from(
    [
        "",
        " ",
        "\n",
        "\\",
        "=",
        "[",
        "]",
        "[1-",
        "[9-1]",
        "[1-99999999999]",
        "[[",
        ",",
        "-",
        '"',
        "#",
        "\x00",
        "\ufeff",
        "\u2028",
        "<script>",
        "NaN",
        "1e999",
        "-1",
        "9" * 400,
        "null",
        "{",
        "}",
        "\u0663",
        "\ud83d\ude00",
        "Switch 1 ",
        "SwitchName=",
        "Nodes=",
        "LinkSpeed=",
        "12xZDR",
        '"S-0"[1]',
        "DEFAULT",
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """One of the files after a few cuts, doubled lines, swapped lines and strange pieces."""
    text = draw(st.sampled_from([FABRIC, CONF, BLOCKS, OWN]))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 40)))
        lines = text.splitlines(keepends=True)
        match draw(st.sampled_from(["cut", "put", "double", "swap", "end"])):
            case "cut":
                text = text[:begin] + text[end:]
            case "put":
                text = text[:begin] + draw(PIECES | st.text(max_size=5)) + text[end:]
            case "double":
                text = text[:end] + text[begin:]
            case "swap" if len(lines) > 1:
                first, second = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
                lines[first], lines[second] = lines[second], lines[first]
                text = "".join(lines)
            case _:
                text = text[:begin]
    return text


@settings(max_examples=examples(81, fuzz=400))
@given(mutated(), st.sampled_from([None, 1e9]))
def test_a_mutated_file_is_read_or_answered_in_sentences(text: str, capacity: float | None) -> None:
    found = read(text, "net", nodes={"n1", "node01", "a"}, capacity=capacity)
    for problem in found.problems:
        sentence = str(problem)
        assert isinstance(problem, GridPortalError)
        assert sentence.endswith((".", "?")), sentence
        assert sentence.isprintable(), ascii(sentence)
        assert len(sentence) < 1500, sentence
    assert (found.topology is None) == bool(found.problems)
    for node in found.topology.nodes if found.topology else ():
        assert node.id.isprintable()
