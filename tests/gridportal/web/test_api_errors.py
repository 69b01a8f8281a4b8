"""What the API refuses it says in one sentence: which field, what was sent, what would be accepted."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Application

JSON = "application/json"
LONG = "x" * 100_000


def refused(client, body, address="/api/jobs"):
    answer = client.post(address, body, content_type=JSON)
    assert answer.status_code == 400
    assert len(answer.content) < 1500
    return answer.json()


@pytest.mark.parametrize("address", ["/api/jobs", "/api/preview"])
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"node_count": "x"}, "node_count is 'x'; accepted is a whole number from 1."),
        ({"node_count": None}, "node_count is empty; accepted is a whole number from 1."),
        ({"node_count": 0}, "node_count is 0; accepted is a whole number from 1."),
        ({"node_count": [2]}, "node_count is 2; accepted is a whole number from 1."),
        ({"memory_per_rank": "9G"}, "memory_per_rank is '9G'; accepted is a whole number of MB from 1."),
        ({"time_limit": "1h"}, "time_limit is '1h'; accepted is a whole number of seconds from 1 to 2,592,000."),
        ({"application": "nope"}, "application is 'nope'; accepted is one of ep."),
        ({"application": 7}, "application is 7; accepted is one of ep."),
        (
            {"method": "magic"},
            "method is 'magic'; accepted is one of random, compute, communication, balanced, pattern.",
        ),
        ({"parameters": "klass"}, "parameters is 'klass'; accepted is an object."),
        ({"pattern_graph": [1]}, "pattern_graph is 1; accepted is an object."),
        ({"request_key": "abc"}, "request_key is 'abc'; accepted is a UUID."),
        ({"name": ["a"]}, "name is 'a'; accepted is a text of at most 120 characters."),
        (
            {"requirements": 5},
            'requirements is 5; accepted is an object, such as {"min_cpu": 0.5, "require": {"mem_gb": ">=16", '
            '"site": "utk"}}.',
        ),
        (
            {"requirements": {"require": ["mem_gb>=16"]}},
            "requirements.require is 'mem_gb>=16'; accepted is an object, each value a text, such as "
            '{"mem_gb": ">=16", "site": "utk"}.',
        ),
        ({"requirements": {"min_cpu": 2}}, "requirements.min_cpu is 2; accepted is a number from 0 to 1."),
        ({"requirements": {"require": {"site": []}}}, "requirements.require.site is empty; accepted is a text."),
        ({"pattern_graph": {}}, "pattern_graph is empty; accepted is an object with the lists nodes and links."),
    ],
)
def test_a_field_that_cannot_be_taken(client_as, application, address, changes, sentence):
    said = refused(client_as("user"), {"application": "ep", "node_count": 2, **changes}, address)
    while isinstance(said, dict):
        ((_, said),) = said.items()
    assert said == [sentence]


@pytest.mark.parametrize("body", [[1, 2], "text", 5])
def test_a_body_that_is_no_object(client_as, application, body):
    import json

    said = refused(client_as("user"), json.dumps(body))
    assert said["non_field_errors"][0].startswith("The body is ")
    assert said["non_field_errors"][0].endswith("; accepted is an object.")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": LONG},
        {"pattern": LONG},
        {"method": LONG},
        {"application": LONG},
        {"cluster": LONG},
        {"parameters": {"klass": LONG}},
        {"parameters": {LONG: 1}},
        {"pattern_graph": {"nodes": [], "links": LONG}},
        {"requirements": {"require": {"site": LONG}}},
        {"options": {"partition": LONG}},
    ],
)
def test_a_long_value_is_not_echoed_in_full(client_as, application, changes):
    refused(client_as("user"), {"application": "ep", "node_count": 2, **changes})


@pytest.mark.parametrize("missing", ["application", "node_count"])
def test_what_is_missing_is_called_empty(client_as, application, missing):
    body = {"application": "ep", "node_count": 2}
    del body[missing]
    assert refused(client_as("user"), body)[missing][0].startswith(f"{missing} is empty; accepted is ")


@pytest.mark.parametrize(
    ("query", "field", "words"),
    [
        ("state=odd", "state", "state is 'odd'; accepted is one of active, queued"),
        ("method=magic", "method", "method is 'magic'; accepted is one of pattern, balanced"),
        ("start=soon", "start", "start: 'soon' is no date and time. Enter a date"),
        ("owner=" + "x" * 200, "owner", "accepted is a text of at most 150 characters."),
    ],
)
def test_a_filter_that_cannot_be_read(client_as, application, query, field, words):
    answer = client_as("user").get(f"/api/jobs?{query}")
    assert answer.status_code == 400
    assert words in answer.json()[field][0]


def test_an_application_is_refused_in_the_same_words(client_as):
    body = {"slug": "x", "name": "X", "command": [[]]}
    answer = client_as("administrator").post("/api/applications", body, content_type=JSON)
    assert answer.json() == {"command": {"0": ["command[0] is empty; accepted is a text."]}}
    answer = client_as("administrator").post("/api/applications", {"command": "x"}, content_type=JSON)
    assert answer.json()["command"] == ["command is 'x'; accepted is a list, each entry a text."]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slug": 7}, "slug is 7; accepted is a text of at most 60 characters, in quotes."),
        ({"description": 7}, "description is 7; accepted is a text, in quotes."),
        ({"mpi": 7}, "mpi is 7; accepted is a text of at most 60 characters, in quotes."),
        ({"phases": ["a", 7]}, "phases[1] is 7; accepted is a text, in quotes."),
        ({"command": ["x", 1.5]}, "command[1] is 1.5; accepted is a text, in quotes."),
        ({"environment": {"A": 1}}, "environment.A is 1; accepted is a text, in quotes."),
        ({"parameters": {}}, "parameters is an empty object; accepted is a list."),
        ({"phases": ["a" * 61]}, f"phases is '{'a' * 61}'; accepted is words of at most 60 printable characters."),
        (
            {"mpi": "Elephant MPI 9"},
            "mpi is 'Elephant MPI 9'; accepted is the name of an MPI, such as MPICH 4.2, Open MPI 4.1 or Intel MPI "
            "2021.",
        ),
        (
            {"output_patterns": {"success": ""}},
            "output_patterns.success is empty; accepted is a regular expression; leave it out for none.",
        ),
        (
            {"output_patterns": {"success": "("}},
            "output_patterns.success is '('; accepted is a regular expression; in this one a ( is not closed.",
        ),
        (
            {"output_patterns": {"seconds": "Time"}},
            "output_patterns.seconds.pattern is 'Time'; accepted is a pattern with one group around the number, as "
            "(.*) or (?P<value>.*).",
        ),
        (
            {"output_patterns": {"figures": [{"pattern": "(.*)", "name": ""}]}},
            "output_patterns.figures[0].name is empty; accepted is a name that no other figure has.",
        ),
    ],
)
def test_a_field_of_an_application_that_cannot_be_taken(client_as, changes, sentence):
    body = {"slug": "x", "name": "X", "command": ["x"], **changes}
    said = client_as("administrator").post("/api/applications", body, content_type=JSON)
    assert (said.status_code, Application.objects.filter(name="X").exists()) == (400, False)
    said = said.json()
    while isinstance(said, dict):
        ((_, said),) = said.items()
    assert said == [sentence]


def test_a_token_too(client_as):
    said = refused(client_as("user"), {"name": "t", "days": 0}, "/api/tokens")
    assert said["days"][0].startswith("days is 0; accepted is a whole number from 1 to ")


@pytest.mark.parametrize("address", ["/api/jobs", "/api/preview", "/api/measure", "/api/network/flows", "/api/tokens"])
def test_a_body_that_is_null_is_no_object(client_as, application, address):
    said = refused(client_as("administrator"), "null", address)
    assert said == {"detail": "The body is null; accepted is an object."}


@pytest.mark.parametrize(
    ("flows", "sentence"),
    [
        ([{"source": "a", "target": "b", "demand": "x"}], "flows[0].demand is 'x'; accepted is a number."),
        ([{"source": "a"}], "flows[0].target is empty; accepted is a text of at most 80 characters."),
        ([{"source": "a", "target": "b"}, 7], "flows[1] is 7; accepted is an object."),
        ({"a": 1}, "flows is {'a': 1}; accepted is a list of 1 to 10,000 objects."),
        ([], "flows is empty; accepted is a list of 1 to 10,000 objects."),
        (None, "flows is empty; accepted is a list of 1 to 10,000 objects."),
        ("n1>n2", "flows is 'n1>n2'; accepted is a list of 1 to 10,000 objects."),
    ],
)
def test_one_of_a_list_of_objects_is_named(client_as, application, flows, sentence):
    assert sentence in str(refused(client_as("user"), {"flows": flows}, "/api/network/flows"))


def test_too_many_flows_are_refused_without_repeating_them(client_as, application):
    said = refused(client_as("user"), {"flows": [{"source": "a", "target": "b"}] * 10_001}, "/api/network/flows")
    assert str(said).count("accepted is a list of 1 to 10,000 objects") == 1
