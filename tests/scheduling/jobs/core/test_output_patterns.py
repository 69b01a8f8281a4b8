"""Patterns for a program's output: which are accepted, and that they come back as they were written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core.line_pattern import LinePattern
from scheduling.jobs.core.output_numbers import number
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.output_text import figures, parse_figures

WHOLE = {
    "success": "Verification *= *SUCCESSFUL",
    "failure": "(ERROR|FAILED)",
    "seconds": {"pattern": "Time = (.*)", "unit": "ms", "which": "first"},
    "figures": [
        {"name": "energy", "pattern": "Total Energy = (?P<value>\\S+) (eV|Ha)", "unit": "eV"},
        {"name": "atoms", "pattern": "(\\d+) atoms", "which": "first"},
    ],
}


def test_patterns_come_back_as_they_were_written() -> None:
    assert OutputPatterns.read(WHOLE).document() == WHOLE
    assert OutputPatterns.read({}).document() == {}
    assert not OutputPatterns.read({"success": "", "seconds": None})
    assert OutputPatterns.read({"seconds": "Time (.*)"}).document() == {"seconds": {"pattern": "Time (.*)"}}
    for progress in (
        {"rounds": True},
        {"progress": {"pattern": "(?P<step>.*)", "of": "steps", "file": "out/a.csv"}},
    ):
        assert OutputPatterns.read(progress).document() == progress


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "output_patterns"),
        ({"figure": []}, "output_patterns"),
        ({"success": 3}, "success"),
        ({"success": "a\nb"}, "success"),
        ({"success": "x" * 501}, "success"),
        ({"failure": "("}, "failure"),
        ({"failure": "a)|(b"}, "failure"),
        ({"failure": r"(a)\1"}, "failure"),
        ({"failure": "(?=a)"}, "failure"),
        ({"failure": r"\Aa"}, "failure"),
        ({"failure": "(.{100}){10}"}, "failure"),
        ({"seconds": "Time = .*"}, "seconds.pattern"),
        ({"seconds": "(a)(b)"}, "seconds.pattern"),
        ({"seconds": {"pattern": "(.*)", "unit": "days"}}, "seconds.unit"),
        ({"seconds": {"pattern": "(.*)", "which": "third"}}, "seconds.which"),
        ({"seconds": {"pattern": "(.*)", "units": "s"}}, "seconds"),
        ({"figures": {"energy": "(.*)"}}, "figures"),
        ({"figures": ["(.*)"]}, "figures[0]"),
        ({"figures": [{"name": "a", "pattern": "(.*)"}] * 2}, "figures[1].name"),
        ({"figures": [{"name": "", "pattern": "(.*)"}]}, "figures[0].name"),
        ({"figures": [{"name": "a", "pattern": "(.*)", "unit": "x" * 21}]}, "figures[0].unit"),
        ({"figures": [{"name": "a = b", "pattern": "(.*)"}]}, "figures[0].name"),
        ({"figures": [{"name": "a", "pattern": "(.*)", "unit": "first"}]}, "figures[0].unit"),
        ({"figures": [{"name": str(at), "pattern": "(.*)"} for at in range(31)]}, "figures"),
        ({"progress": {"pattern": "(?P<step>.*)", "file": "../secrets"}}, "progress.file"),
        ({"progress": {"pattern": "(?P<step>.*)", "file": "/etc/passwd"}}, "progress.file"),
        ({"progress": {"pattern": "(?P<step>.*)", "file": 7}}, "progress.file"),
        ({"progress": {"pattern": "(?P<step>.*)", "folder": "x"}}, "progress"),
        ({"rounds": "often"}, "rounds"),
        ({"progress": "(?P<step>.*)", "rounds": True}, "rounds"),
    ],
)
def test_what_cannot_be_accepted_is_named_by_its_field(document: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        OutputPatterns.read(document)
    assert caught.value.field == field


NAMES = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9)


@given(
    st.dictionaries(NAMES, st.tuples(NAMES | st.just(""), st.sampled_from(["first", "last"])), max_size=5),
    st.sampled_from(["(.*)", "E = (.*)", r"a\s*=\s*(\S+) \(x\)", "(first) = x"]),
)
def test_figures_typed_by_a_person_are_read_as_they_are_shown(named: Any, pattern: str) -> None:
    entries = [
        {"name": name, "pattern": pattern, "unit": "" if unit in ("first", "last") else unit, "which": which}
        for name, (unit, which) in named.items()
    ]
    patterns = OutputPatterns.read({"figures": entries})
    assert OutputPatterns.read({"figures": parse_figures(figures(patterns))}) == patterns


@pytest.mark.parametrize("line", ["energy", "= (.*)", "energy (eV = (.*)", "energy ="])
def test_a_line_that_is_no_figure_is_named(line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_figures(f"atoms = (.*)\n\n{line}")
    assert (caught.value.field, caught.value.value) == ("figures[1]", line)


@given(st.text(max_size=40))
def test_any_text_is_a_pattern_or_is_refused_in_a_sentence(text: str) -> None:
    try:
        pattern = LinePattern.read(text, "success")
    except InputError as error:
        field = error.field
    else:
        field = "success" if pattern.text == text else ""
        pattern.compiled.search(b"some line\nand another\n")
    assert field == "success"


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from("eEdDqQ"))
def test_numbers_are_read_as_c_and_fortran_print_them(value: float, letter: str) -> None:
    assert number(f" {value:.17e}".replace("e", letter)) == value


@given(st.integers(-(2**53), 2**53))
def test_whole_numbers_stay_whole(value: int) -> None:
    assert number(str(value)) == value
    assert isinstance(number(str(value)), int)


@pytest.mark.parametrize(
    "text", ["", "1,5", "1.5 s", "1e", "0x10", "inf", "NaN", "*****", "1" * 65, "--1", "١", "1e99999"]
)
def test_what_is_no_number_is_none(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(a+", "in this one a ( is not closed"),
        ("a)", "a ) closes nothing"),
        ("[a", "a [ is not closed"),
        ("*a", "there is nothing that * could repeat"),
        ("a**", "** repeats a repetition"),
        ("a{2000}", "{2000} is more than 1,000 times, or from more to fewer"),
        ("a(?=b)", "(?= begins a group of a kind that is not known here"),
        (r"(a)\1", r"\1 has no meaning here; there are no back references"),
        ("a\\", "nothing stands after the \\ at its end"),
        ("[z-a]", "z-a is no range of letters"),
        ("(?P<n", "(?P<n gives no name"),
    ],
)
def test_what_is_wrong_with_an_expression_is_told_in_words(pattern: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        LinePattern.read(pattern, "success")
    assert said in error.value.accepted
