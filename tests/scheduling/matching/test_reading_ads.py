"""Reading ads: what the papers write, what HTCondor reads, and where a fault is."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import classad2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.matching.adapters.classad_library import Library
from scheduling.matching.core.language.ad_errors import AdError, NoticeCode
from scheduling.matching.core.language.ad_reader import read_ad, read_ads
from scheduling.matching.core.language.ad_syntax import Literal, Record, Special
from scheduling.matching.core.language.ad_writer import AdWriter
from tests.scheduling.matching import random_ads
from tests.scheduling.matching.papers_texts import CACTUS_LISTING, CACTUS_REQUEST, CLAUSES

SIGNS = [
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "=",
    "==",
    "=?=",
    "&&",
    "||",
    "?",
    ":",
    "?:",
    ".",
    "-",
    "!",
    "<",
    ">>>",
]
WORDS = [
    "a",
    "other.",
    "my.b",
    "Type",
    "max(",
    "true",
    "is",
    "parent",
    "5G",
    "1.5",
    "0x1f",
    '"t"',
    "'q'",
    "//",
    "/*",
    "#",
]
SEEDS = st.integers(0, 2**64)
PIECES = st.lists(st.sampled_from([*SIGNS, *WORDS, " ", "\n", '"', "'", "\\", "é", "\0", "1."]), max_size=60)


def fault(read: Callable[[], Any]) -> tuple[AdError | None, Any]:
    """What is wrong with a text, or what was read."""
    try:
        return None, read()
    except AdError as error:
        return error, None


@pytest.mark.parametrize("text", [CACTUS_REQUEST, CACTUS_LISTING], ids=["request", "listing"])
def test_the_request_of_the_paper_is_read_word_for_word(text: str) -> None:
    read = read_ad(text)
    Library().check(read.ad)
    assert read.ad.get("domains") == read_ad('[ d = {"cs.utk.edu", "ucsd.edu"} ]').ad.get("d")
    assert [notice.text for notice in read.notices if notice.code is NoticeCode.BARE_TEXT] == ["cs.utk.edu", "ucsd.edu"]
    assert list(read.ad.attributes)[:3] == ["service", "matchtype", "iter"]


@pytest.mark.parametrize("clause", CLAUSES)
def test_the_clauses_of_the_paper_are_read(clause: str) -> None:
    Library().check(read_ad(f'[ Type="Set"; H = other.machine; clause = {clause} ]').ad)


def test_the_mark_that_an_editor_puts_first_is_passed_over() -> None:
    assert read_ad("\ufeff[ a = 1 ]").ad == read_ad("[ a = 1 ]").ad
    assert [ad.literal("cpus") for ad in read_ads("\ufeffcpus = 4\n\ncpus = 8")[0]] == [4, 8]


def test_scales_are_those_of_the_language_that_the_paper_used() -> None:
    ad = read_ad("[ a = 5G; b = 100M; c = 1.5K; d = 2T; e = 7B; f = 3kb ]").ad
    assert [ad.literal(name) for name in "abcdef"] == [5 * 2**30, 100 * 2**20, 1536, 2 * 2**40, 7, 3072]


def test_a_word_that_no_attribute_can_be_called_is_a_text() -> None:
    read = read_ad("[ r = other.os==redhat6.1 && other.v == 2.4x ]".replace("2.4x", "v2.4-smp"))
    assert AdWriter().text(read.ad.attributes["r"].expression) == 'TARGET.os == "redhat6.1" && TARGET.v == "v2.4-smp"'
    assert [(notice.text, notice.place.column) for notice in read.notices] == [("redhat6.1", 17), ("v2.4-smp", 41)]


def test_lists_of_attributes_stay_lists_of_attributes() -> None:
    ad = read_ad("[ site = [edu = 1]; a = {site.edu, other.x.y, b}; b = 2 ]").ad
    assert AdWriter().text(ad.attributes["a"].expression) == "{site.edu,TARGET.x.y,b}"


def test_names_with_hyphens_are_names_where_they_are_defined() -> None:
    read = read_ad('[ Type="Set"; execution-time = 8 / other.speed; Rank = 1/Max(execution-time); x = 5; y = x-x ]')
    assert AdWriter().text(read.ad.attributes["rank"].expression) == "1 / max('execution-time')"
    assert AdWriter().text(read.ad.attributes["y"].expression) == "x - x"
    of_members = read_ad('[ Type="Set"; Rank = 1/Max(execution-time) ]', others={"Execution-Time"})
    assert AdWriter().text(of_members.ad.attributes["rank"].expression) == "1 / max(TARGET.'execution-time')"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[a=1\nb=2]", 2, 1),
        ("[a = )]", 1, 6),
        ("[a = 5Q]", 1, 7),
        ("[a = (1 + 2]", 1, 12),
        ('[a = "x]', 1, 6),
        ("[a = 1", 1, 7),
        ("[a == 1]", 1, 4),
        ("[a = other.1]", 1, 12),
        ("[a = 1 ? 2]", 1, 11),
        ("[a = {1,}]", 1, 9),
        ("[a = b c]", 1, 8),
        ("[a = 99999999999999999999]", 1, 6),
        ("[a = 'x]", 1, 6),
        ("[a = /* x ]", 1, 6),
        ("[true = 1]", 1, 2),
        ("[other = 1]", 1, 2),
        ("[a = é]", 1, 6),
        ("[a = 1] [b = 2]", 1, 9),
        ("", 1, 1),
        ("a = 1\nb = \n", 2, 5),
        ("[a = " + "(" * 50 + "1" + ")" * 50 + "]", 1, 46),
        ("[a = " + "1+" * 200 + "1]", 1, 307),
    ],
)
def test_a_fault_is_pointed_at(text: str, line: int, column: int) -> None:
    with pytest.raises(AdError) as caught:
        read_ad(text, "request.ad")
    assert (caught.value.place.line, caught.value.place.column) == (line, column)
    assert str(caught.value).startswith(f"request.ad, line {line}, column {column} is ")


def test_what_is_deep_by_chains_in_brackets_is_refused() -> None:
    chain = "1"
    for _ in range(30):
        chain = f"({chain}{'+1' * 140})"
    with pytest.raises(AdError, match="nested at most 160 deep"):
        read_ad(f"[a = {chain}]")


def test_ads_are_read_in_brackets_and_line_by_line() -> None:
    text = '# from condor_status\nMachine = "n1"\nCpus = 4\nRequirements = TARGET.x > 1 && \\\n'.replace(" && \\", "")
    lines, _ = read_ads(f'{text}\n\n# next\nMachine = "n2"\nCpus = 8')
    assert [(ad.literal("machine"), ad.literal("cpus")) for ad in lines] == [("n1", 4), ("n2", 8)]
    listed, _ = read_ads('{ [a = 1], [a = 2; b = "x;]"] }')
    assert [ad.literal("a") for ad in listed] == [1, 2]
    assert read_ads("  // nothing\n") == ([], [])


@given(PIECES)
@example(["[", "a", "=", "'", "q", "'"])
def test_no_text_does_worse_than_point_at_a_character(pieces: list[str]) -> None:
    text = "".join(pieces)
    for read in (read_ad, read_ads):
        error, got = fault(partial(read, text))
        assert error is None or 0 <= error.place.offset <= len(text)
        for ad in got[0] if isinstance(got, tuple) else [got.ad] if got else []:
            Library().check(ad)


@given(SEEDS)
def test_what_is_written_is_read_again_as_it_was(seed: int) -> None:
    rng = random.Random(seed)
    ad = random_ads.ad(rng, 4, [random_ads.expression(rng, 4, foreign=True)], foreign=True)
    text = AdWriter().ad(ad)
    again = read_ad(text).ad
    assert AdWriter().ad(again) == text
    assert str(classad2.ClassAd(AdWriter().ad(again))) == str(classad2.ClassAd(text))


@given(SEEDS)
def test_one_character_changed_never_ends_in_anything_but_a_sentence(seed: int) -> None:
    rng = random.Random(seed)
    at = rng.randrange(len(CACTUS_REQUEST))
    text = CACTUS_REQUEST[:at] + rng.choice("[](){};=\"'\\.5aG \n\0é") + CACTUS_REQUEST[at + rng.randrange(3) :]
    error, read = fault(lambda: read_ad(text))
    if error is None:
        Library().check(read.ad)
    else:
        assert error.place.offset <= len(text)
        assert error.pointer.endswith("^")


@pytest.mark.parametrize(
    "piece", ["(", "[a=", "{", "!", "a.", "1?", "f(", "a[", "/*", "'", '"', "\\", "1.", "a-", "?:a", "[a=1;"]
)
def test_long_texts_take_no_longer_than_their_length(piece: str) -> None:
    started = time.process_time()
    with pytest.raises(AdError):
        read_ad("[a=" + piece * 100_000)
    assert time.process_time() - started < 30  # a quadratic reader takes minutes


def test_ads_keep_their_kinds_of_values() -> None:
    assert Literal(1) != Literal(1.0)
    assert Literal(True) != Literal(1)
    assert Record({}).get("a") is None


@pytest.mark.parametrize("clause", ['Postfix(other.site, "edu")', "Postfix(other.site, nowhere)"])
def test_a_postfix_without_a_list_is_an_error_value_and_no_crash(clause: str) -> None:
    request = read_ad(f'[ Type="Set"; requirements = {clause} ]').ad
    resources, _ = read_ads('[ site="x.edu" ] [ site=3 ]')
    Library().check(request)
    found = request.get("requirements")
    assert found is not None
    assert Library().of_request(request, resources, found) == [Special.ERROR] * 2


def test_what_the_library_cannot_parse_is_refused_of_a_request_and_an_error_of_a_resource() -> None:
    with pytest.raises(InputError, match=r"requirements is .*abstime.*; accepted is an expression that HTCondor's"):
        Library().check(read_ad('[ Type="Set"; requirements = absTime("soon") == 1 ]').ad)
    request = read_ad('[ Type="Set"; requirements = other.ends > 1; cpus = other.cpus ]').ad
    resources, _ = read_ads('[ cpus=2; ends=absTime("soon") ] [ cpus=4; ends=3 ]')
    ends, cpus = request.get("requirements"), request.get("cpus")
    assert ends is not None
    assert cpus is not None
    assert Library().of_request(request, resources, ends) == [Special.ERROR, True]
    assert Library().of_request(request, resources, cpus) == [2, 4]
