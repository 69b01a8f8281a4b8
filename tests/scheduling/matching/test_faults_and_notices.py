"""What is said of requests that mean nothing, and of functions that are not there: where, and what to write."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError, TextError
from scheduling.matching.adapters.library_functions import argument_counts
from scheduling.matching.core.language import function_checks
from scheduling.matching.core.language.ad_errors import NoticeCode
from scheduling.matching.match_documents import document
from scheduling.matching.match_messages import change_message, notice_message
from scheduling.matching.services.match_texts import MatchQuestion, answer

MACHINES = '[ name = "a"; cpus = 4; os = "linux"; tags = {1, 2} ] [ name = "b"; cpus = 8; os = "bsd" ]'


def refused(request: str) -> TextError:
    with pytest.raises(TextError) as caught:
        answer(MatchQuestion(request, MACHINES))
    return caught.value


def warned(request: str, resources: str = MACHINES) -> list[str]:
    return [notice_message(notice) for notice in answer(MatchQuestion(request, resources)).notices]


def test_a_part_about_one_resource_beside_one_about_the_set_is_pointed_at_with_what_to_write() -> None:
    error = refused('[ Type = "Set";\n requirements = SetSize > 1 && (Sum(other.cpus) > 2 ||\n other.os == "linux") ]')
    assert (error.field, error.line, error.column) == ("request", 3, 2)
    assert "TARGET" not in str(error)
    assert str(error).startswith(
        'request, line 3, column 2: other.os == "linux" is about one resource, but this clause'
    )
    assert error.pointer == ' other.os == "linux") ]\n ^'
    instead = 'Sum(other.os == "linux" ? 1 : 0) == SetSize'
    assert instead in error.accepted
    made = answer(MatchQuestion(f'[ Type = "Set"; requirements = Sum(other.cpus) > 20 || {instead} ]', MACHINES))
    assert [machine.dns for machine in made.machines] == ["a"], "what it says to write is accepted and means that"


@pytest.mark.parametrize(
    ("request_text", "place", "part"),
    [
        ('[ Type = "Set"; rank = Sum(other.cpus) + other.b ]', (1, 42), "other.b"),
        ('[ Type = "Set"; rank = Max(1 + Sum(other.cpus)) ]', (1, 32), "Sum(other.cpus)"),
        ('[ Type = "Set"; rank = Max(SetSize()) ]', (1, 28), "SetSize()"),
        ('[ Type = "Set"; x = other.b > 2G;\n rank = x ? SetSize : 0 ]', (1, 21), "other.b > 2G"),
    ],
)
def test_each_part_that_means_nothing_is_told_as_it_stands(
    request_text: str, place: tuple[int, int], part: str
) -> None:
    error = refused(request_text)
    assert ((error.line, error.column), f": {part} is about" in str(error)) == (place, True)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("Mapper = 3", "column 12: Mapper is 3; accepted is the name of a mapper in quotes, or an ad with it"),
        ("Mapper = line", "Mapper is line; accepted is"),
        ("Mapper = [ total = 3 ]", "Mapper is [ total = 3 ]; accepted is"),
        ('Service = "Foo"', 'Service is "Foo"; accepted is "InstantService"'),
        (
            'Mapper = [ libraryname = "line"; time = "nope" ]',
            'The mapper\'s option time is "nope"; accepted is the name',
        ),
        ('lifetime = "long"', 'lifetime is "long"; accepted is a whole number of seconds'),
    ],
)
def test_an_element_of_a_wrong_kind_is_refused(element: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        answer(MatchQuestion(f"[ {element} ]", MACHINES))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        ("[ x = foo(1) ]", "line 1, column 7: there is no function foo; its value is an error"),
        ("[ x = avrg({1}) ]", "there is no function avrg; its value is an error; perhaps Avg is meant"),
        ("[ x = Count(1) ]", "perhaps SetSize is meant"),
        ("[ x = Sum() ]", "Sum takes 1 argument, not 0; its value is an error"),
        ('[ x = substr("a") ]', "substr takes 2 or 3 arguments, not 1"),
        ("[ x = Postfix(other.os) ]", "Postfix takes 2 arguments, not 1"),
        ("[ x = Sum(other.cpus) ]", 'write Type = "Set" for a set'),
        ('[ Type = "Set"; x = Avg(other.cpus) ]', "write Sum(...) / (1.0 * SetSize)"),
    ],
)
def test_a_function_that_is_not_there_or_takes_other_arguments_is_warned_of(request_text: str, message: str) -> None:
    (notice,) = warned(request_text)
    assert message in notice


def test_functions_that_mean_something_are_not_warned_of() -> None:
    calls = ("size({1})", "Avg({1, 2})", "Sum(other.tags)", "strcat(1, 2, 3, 4, 5, 6, 7, 8)", "time()")
    uses = f"{{ {', '.join(calls)}, regexps(other.os, other.os, other.os) }}"
    assert warned(f'[ Type = "Set"; x = {uses}; rank = Sum(other.cpus) + Max({{1, 2}}) ]') == []


def test_every_name_that_may_be_proposed_is_a_function_of_the_library() -> None:
    proposed = {*function_checks.NEAR, *function_checks.ELSEWHERE.values()} - {"Postfix", "SetSize"}
    assert [name for name in sorted(proposed) if not argument_counts(name.lower())] == []


def test_of_many_warnings_of_a_kind_the_count_is_told() -> None:
    resources = "".join(f"[ a = {number}G ]\n" for number in range(1, 31)) + "[ requirements = fooo(1) ]"
    made = answer(MatchQuestion("[]", resources))
    scaled = [notice for notice in made.notices if notice.code is NoticeCode.SCALED_NUMBER]
    assert (len(scaled), scaled[-1].more) == (20, 10)
    warnings = document(made)["warnings"]
    assert warnings[19].endswith("(10 more like this)")
    assert "resources, line 31, column 18: there is no function fooo" in warnings[20]


def test_equal_warnings_are_one_with_their_count_and_the_first_place() -> None:
    request = (
        '[ Type = "Set"; Mapper = "line"; requirements = other.m > 5G || other.m < 5G || other.n > 5G;\nrank = 6G ]'
    )
    told = [each for each in warned(request, "[ m = 6; n = 3 ]") if "is read as" in each]
    assert told == [
        "request, line 1, column 59: 5G is read as 5368709120 (a K is 1024) (2 more like this)",
        "request, line 2, column 8: 6G is read as 6442450944 (a K is 1024)",
    ]


def test_the_smallest_change_asks_for_nothing_of_an_attribute_that_nobody_has() -> None:
    made = answer(MatchQuestion('[ Type = "Set"; requirements = Sum(other.zork) >= 1 ]', MACHINES, explain=True))
    assert change_message(made.explanation) == (
        "The smallest change: do without Sum(other.zork) >= 1; no resource has the attribute zork."
    )


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        ("[ requirements = other.cpu > 2 && other.CPUS > 1 ]", ["cpu"]),
        ('[ Type = "Set"; rank = Max(other.nope) + Sum(other.cpus) + SetSize ]', ["nope"]),
        ("[ x = 3; requirements = other.cpus > x && x > my.none ]", []),
    ],
)
def test_a_name_that_no_resource_has_is_warned_of(request_text: str, names: list[str]) -> None:
    notices = answer(MatchQuestion(request_text, MACHINES)).notices
    assert [each.text for each in notices if each.code is NoticeCode.UNKNOWN_ATTRIBUTE] == names


def test_a_near_name_is_proposed_where_a_name_stands_first() -> None:
    (told,) = warned("[ requirements =\n other.cpu > 2 && other.cpu < 9 ]")
    assert told.startswith("request, line 2, column 2: no resource has an attribute cpu; its value is undefined")
    assert told.endswith("perhaps cpus is meant")


@pytest.mark.parametrize(
    ("time", "machines"),
    [('"soon"', ["a", "b"]), ("10 / other.cpus - 1", ["b"]), ("10.0 / other.cpus", [])],
    ids=["text", "below 0", "a number"],
)
def test_a_time_that_a_mapper_cannot_use_is_told(time: str, machines: list[str]) -> None:
    text = f'[ Type = "Set"; x = {time}; Mapper = [ name = "line"; time = "x" ]; rank = Sum(other.cpus) ]'
    notices = answer(MatchQuestion(text, MACHINES)).notices
    assert [each.meant for each in notices if each.code is NoticeCode.NO_TIME] == machines
    for notice in notices:
        assert notice_message(notice).startswith("request, line 1, column 21: x is no number above 0 for ")


def test_a_type_that_nobody_knows_is_told_at_its_place() -> None:
    (warning,) = warned('[\n  type = "Bag"; requirements = other.cpus > 1 ]')
    assert warning == (
        'request, line 2, column 10: type is "Bag", so that the best single resource is looked for; accepted is "Set" '
        "for a set, and no type for one"
    )
    assert warned("[ MatchType = 5 ]")[0].startswith("request, line 1, column 15: MatchType is 5, so that")
    assert warned('[ Type = "job" ]') == warned('[ Type = "SET"; rank = SetSize ]') == []


@pytest.mark.parametrize(
    ("text", "column"),
    [("[ lifetime = 0 ]", 14), ("[ lifetime = 1.5 ]", 14), ('[ Service = "InstantService"; lifetime = 5 ]', 42)],
)
def test_what_is_no_lifetime_is_refused_at_its_place(text: str, column: int) -> None:
    error = refused(text)
    assert (error.line, error.column) == (1, column)
    assert "lifetime is " in str(error)
