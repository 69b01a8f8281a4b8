"""Large topology files are read into columns, with the same answers and sentences as small ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.network import importers, large_files, topology_files
from gridportal.network.link_columns import link_columns
from gridportal.network.link_table import LinkTable
from gridportal.network.topology import Topology, dump, parse
from tests.examples import examples

NUMBERS = st.sampled_from([0, 1, 5, 2.5, 7.25, 1e9])
ODD = st.sampled_from([None, True, -1, "5", "n1", [], 1e308, "2030-01-31T12:00Z", "1700000000", "2030-13-01"])
LINKS = st.fixed_dictionaries(
    {"source": st.sampled_from(["n0", "n1", "n2"]), "target": st.sampled_from(["n3", "n4", "n5"]), "capacity": NUMBERS},
    optional={
        "bandwidth": NUMBERS,
        "latency": NUMBERS,
        "used": NUMBERS | st.none(),
        "low": NUMBERS | st.none(),
        "high": NUMBERS | st.none(),
        "measured_at": NUMBERS | st.none() | st.just("2030-01-31T12:00Z"),
        "origin": st.sampled_from(["probe", "", None]),
        "age": NUMBERS,
    },
)


@st.composite
def documents(draw):
    """Mostly right, with up to two entries that may be wrong."""
    links = draw(st.lists(LINKS, max_size=6))
    for _ in range(draw(st.integers(0, 2))):
        if links:
            key = draw(st.sampled_from(["source", "target", "capacity", "bandwidth", "measured_at", "low", "via"]))
            links[draw(st.integers(0, len(links) - 1))][key] = draw(ODD)
    about = draw(st.sampled_from([{}, {"kind": "pairs"}, {"kind": "ring"}, {"routing": "ecmp"}, {"name": 7}]))
    return {
        "directed": draw(st.sampled_from([False, True, "false"])),
        "graph": about,
        "nodes": [{"id": f"n{i}", "cpu": 0.5, "rack": i} for i in range(6)],
        "links": links,
    }


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch):
    monkeypatch.setattr(large_files, "LARGE", 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("topologies")


def answer(read) -> Topology | str:
    try:
        return read()
    except InputError as error:
        return str(error)


@settings(max_examples=examples(60, fuzz=300), deadline=None)
@given(documents())
def test_a_large_file_says_what_a_small_one_says(folder: Path, document):
    file = folder / "net.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    expected = answer(lambda: parse(document, name="net"))
    assert answer(lambda: topology_files.load(file)) == expected
    quick = large_files.read(file, "net")
    assert quick in (None, expected)
    if quick is not None:
        assert list(quick.links) == list(expected.links)
        assert dump(quick) == dump(expected)
        assert all(link_columns(quick).source == link_columns(expected).source)
        assert all(link_columns(quick).bandwidth == link_columns(expected).bandwidth)


@settings(max_examples=examples(40, fuzz=200), deadline=None)
@given(documents())
def test_a_large_import_says_what_a_small_one_says(document):
    text = json.dumps(document)
    large = importers.read(text, "net")
    with mock.patch.object(large_files, "LARGE", 2**40):
        small = importers.read(text, "net")
    assert list(map(str, large.problems)) == list(map(str, small.problems))
    assert replace(large, problems=()) == replace(small, problems=())


@settings(max_examples=examples(10, fuzz=50), deadline=None)
@given(st.lists(LINKS, min_size=1, max_size=6))
def test_what_most_files_have_is_read_into_columns(folder: Path, links):
    file = folder / "plain.json"
    sound = [link for link in links if 0 < link["capacity"] >= link.get("bandwidth", 0)]
    nodes = [{"id": f"n{i}"} for i in range(6)]
    file.write_text(json.dumps({"nodes": nodes, "links": sound}), encoding="utf-8")
    found = large_files.read(file, "plain")
    assert found is not None
    assert isinstance(found.links, LinkTable)


@pytest.mark.parametrize(
    "text",
    [
        '{"nodes": [{"id": "a"}], "links": [], "extra": 1}',
        '{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "\\ud800", "capacity": 1}]}',
        '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "capacity": 1e999}]}',
        '{"nodes": [{"id": "a", "x": ' + "[" * 70 + "]" * 70 + '}], "links": []}',
        '{"nodes": {"id": "a"}, "links": []}',
        '{"nodes": [{"id": "a"}], "links": [}',
        "[1, 2]",
    ],
)
def test_what_is_no_topology_is_refused_in_the_words_for_all_files(tmp_path: Path, text: str, monkeypatch):
    file = tmp_path / "net.json"
    file.write_text(text, encoding="utf-8")
    large = answer(lambda: topology_files.load(file))
    monkeypatch.setattr(large_files, "LARGE", 2**40)
    assert large == answer(lambda: topology_files.load(file))
    assert isinstance(large, str)


@pytest.mark.parametrize(
    "text",
    [
        '{"nodes": [{"id": "n1"}, {"id": "n2"}], "links": [{"source": "n1", "target": "n2", "bandwidth": 1, '
        '"capacity": 5, "bandwidth": 5}]}',
        '{"nodes": [{"id": "n1"}], "links": [], "nodes": [{"id": "n1"}, {"id": "n2"}]}',
    ],
)
def test_a_key_that_stands_twice_is_refused_in_large_files_too(tmp_path: Path, text: str):
    path = tmp_path / "twice.json"
    path.write_text(text)
    assert large_files.read(path, "twice") is None
    with pytest.raises(InputError, match="twice"):
        topology_files.load(path)


def test_links_in_columns_are_a_sequence_of_links(tmp_path: Path):
    file = tmp_path / "net.json"
    links = [{"source": "a", "target": x, "capacity": 9, "bandwidth": at, "low": 1} for at, x in enumerate("bcd")]
    file.write_text(json.dumps({"nodes": [{"id": x} for x in "abcd"], "links": links}), encoding="utf-8")
    table = topology_files.load(file).links
    plain = tuple(table)
    assert table == plain
    assert plain == table
    assert hash(table) == hash(plain)
    assert table[-1] == plain[2]
    assert table[:2] == plain[:2]
    assert [replace(link, bandwidth=9.0).bandwidth for link in reversed(table)] == [9.0] * 3
    assert table != plain[:2]
    with pytest.raises(IndexError):
        table[3]
