"""An application's parameters: what is accepted, and what reaches the command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import parameters

CLASS = {"name": "class", "type": "choice", "choices": ["S", "W"], "default": "S"}
ROWS = {"name": "rows", "type": "int", "min": 64, "max": 512, "default": 64}
SHARE = {"name": "share", "type": "float", "min": 0, "max": 1}
NOTE = {"name": "note", "type": "text", "default": ""}
QUIET = {"name": "quiet", "type": "bool", "default": False}


def read(entry: dict[str, Any], raw: object) -> object:
    return parameters.validate(parameters.parse([entry]), {entry["name"]: raw})[entry["name"]]


@pytest.mark.parametrize(
    ("entry", "raw", "value"),
    [
        (CLASS, "W", "W"),
        (ROWS, "100", 100),
        (ROWS, 512, 512),
        (ROWS, "", 64),
        (SHARE, "0.25", 0.25),
        (SHARE, 1, 1.0),
        (NOTE, "a b; rm -rf ~", "a b; rm -rf ~"),
        (NOTE, "", ""),
        (QUIET, "on", True),
        (QUIET, "", False),
    ],
)
def test_what_fits_is_read_with_its_type(entry: dict[str, Any], raw: object, value: object) -> None:
    found = read(entry, raw)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("entry", "raw", "words"),
    [
        (CLASS, "Z", "one of S, W"),
        (ROWS, "63", "a whole number from 64 to 512"),
        (ROWS, "1e3", "a whole number"),
        (ROWS, True, "a whole number"),
        (ROWS, 3.5, "a whole number"),
        (ROWS, "9" * 400, "a whole number"),
        (SHARE, "nan", "a number from 0 to 1"),
        (SHARE, "inf", "a number from 0 to 1"),
        (SHARE, None, "a number from 0 to 1"),
        (NOTE, "two\nlines", "printable"),
        (NOTE, "nul\0", "printable"),
        (NOTE, "half \ud800", "printable"),
        (NOTE, "x" * 201, "at most 200"),
        (NOTE, "--config=/etc/passwd", "do not start with a dash"),
        (NOTE, ["a"], "printable"),
        (QUIET, "perhaps", "true or false"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(entry: dict[str, Any], raw: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(entry, raw)
    assert caught.value.field == entry["name"]
    assert words in str(caught.value)


def test_a_parameter_that_the_application_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="class, rows"):
        parameters.validate(parameters.parse([CLASS, ROWS]), {"shell": "sh"})


def test_an_explicit_pattern_decides_alone() -> None:
    entry = {"name": "flag", "type": "text", "pattern": r"-[a-z]"}
    assert read(entry, "-x") == "-x"
    with pytest.raises(InputError, match="match"):
        read(entry, "-x -y")


@pytest.mark.parametrize(
    "entry",
    [
        "text",
        {"type": "int"},
        {"name": "a b", "type": "int"},
        {"name": "python", "type": "text"},
        {"name": "n", "type": "shell"},
        {"name": "n", "type": "choice", "choices": []},
        {"name": "n", "type": "choice"},
        {"name": "n", "type": "int", "min": 5, "max": 4},
        {"name": "n", "type": "int", "min": "low"},
        {"name": "n", "type": "int", "min": 5, "default": 4},
        {"name": "n", "type": "text", "pattern": "("},
        {"name": "n", "type": "text", "max_length": 0},
    ],
)
def test_a_wrong_registration_points_at_its_entry(entry: object) -> None:
    with pytest.raises(InputError, match=r"parameters\[1\]"):
        parameters.parse([CLASS, entry])


def test_two_parameters_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="no other parameter"):
        parameters.parse([CLASS, CLASS])


@pytest.mark.parametrize(
    "command", [[], "cg --class {class}", ["cg", 3], [""], ["cg", "{klass}"], ["cg", "{class.__init__}"], ["cg", "{}"]]
)
def test_a_command_with_unknown_placeholders_or_no_list_is_refused(command: object) -> None:
    with pytest.raises(InputError, match="command"):
        parameters.check_command(command, ["class"])


@given(st.text(max_size=200))
def test_whatever_is_typed_stays_one_argument(text: str) -> None:
    command = ["{python}", "-m", "program", "--note", "{note}", "--both={note}{note}"]
    argv = parameters.render(command, {"python": "/py", "note": text})
    assert argv == ["/py", "-m", "program", "--note", text, f"--both={text}{text}"]


def test_a_value_that_looks_like_a_placeholder_is_not_replaced_again() -> None:
    assert parameters.render(["{a}", "{b}"], {"a": "{b}", "b": "x"}) == ["{b}", "x"]


@pytest.mark.parametrize("end", ["min", "max"])
@pytest.mark.parametrize("bound", [10**400, -(10**400), float("inf"), float("nan"), True, "5"])
def test_a_bound_that_is_no_number_is_refused(end: str, bound: object) -> None:
    with pytest.raises(InputError, match=rf"parameters\[0\]\.{end} is "):
        parameters.parse([{"name": "n", "type": "int", end: bound}])
