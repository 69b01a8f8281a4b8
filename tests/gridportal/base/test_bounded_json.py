"""JSON from people: whatever it is, reading it ends in a value or in a sentence."""

from __future__ import annotations

import os

import pytest

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 20_000, "nested more than 64 levels"),
        ("[" * 66 + "]" * 66, "nested more than 64 levels"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested more than 64 levels"),
        ("1" * 5000, "more than 300 digits"),
        ('{"a": [-' + "1" * 400 + "]}", "more than 300 digits"),
        ("[NaN]", "NaN is no number"),
        ("-Infinity", "-Infinity is no number"),
        ('{"a":\n x}', "line 2, column 2"),
        ('["\\ud800"]', "half a letter"),
        (b"\xff\xfe\xfd", "not UTF-8"),
        ("", "line 1, column 1"),
        ('[{"a": 1, "b": {"c": 1, "d": 2, "c": 1}}]', "the key 'c' stands twice in one object"),
    ],
)
def test_what_cannot_be_read_is_said(text, said):
    with pytest.raises(UnreadableError, match=said):
        bounded_json.loads(text)


@pytest.mark.parametrize("text", ["[" * 64 + "]" * 64, '"\\ud83d\\ude00"', '{"a": [1, -2.5e3, null, true]}', "9" * 300])
def test_what_is_within_the_bounds_is_read_as_json_is(text):
    import json

    assert bounded_json.loads(text) == json.loads(text)


def test_a_file_is_read(tmp_path):
    (tmp_path / "a.json").write_text('{"ä": 1}', encoding="utf-8")
    assert bounded_json.load(tmp_path / "a.json", "topology") == {"ä": 1}


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "{tmp}", "{tmp}/pipe", "{tmp}/none", "x" * 5000, "a\0b"])
def test_what_is_no_plain_file_is_refused_and_never_waited_for(tmp_path, path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as caught:
        bounded_json.load(path.format(tmp=tmp_path), "topology")
    assert str(caught.value).startswith("topology is ")
    assert "readable" in caught.value.accepted


def test_a_file_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_json, "MAX_FILE", 2**20)
    with (tmp_path / "long.json").open("wb") as file:
        file.truncate(2**20 + 1)
    with pytest.raises(InputError, match="more than 1 MiB"):
        bounded_json.load(tmp_path / "long.json", "topology")


def test_a_file_in_a_folder_that_may_not_be_read_counts_as_there(tmp_path, monkeypatch):
    def forbidden(*_args: object) -> None:
        raise PermissionError(13, "Permission denied")

    assert not bounded_json.is_there(tmp_path / "none")
    monkeypatch.setattr(os, "stat", forbidden)
    assert bounded_json.is_there(tmp_path / "none")


def test_the_example_holds():
    import doctest

    result = doctest.testmod(bounded_json)
    assert (result.attempted > 0, result.failed) == (True, 0)


def test_of_a_key_twice_the_last_counts_where_a_program_wrote_it():
    assert bounded_json.loads('{"a": 1, "a": 2}', lenient=True) == {"a": 2}
