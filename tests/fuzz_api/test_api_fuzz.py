"""Every operation of the REST API with valid data, as each role: no failure, and answers as the document says.

`make test` tries a few cases of each, the same each time; `make fuzz-api` tries many, other ones each time.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings, strategies
from schemathesis import checks
from schemathesis.specs.openapi import checks as conformance

from tests.conftest import ROLES
from tests.fuzz_api.api_cases import cases, document, operations
from tests.fuzz_api.api_portal import Portal
from tests.fuzz_api.api_rows import Rows, make_rows

CASES = int(os.environ.get("FUZZ_API_CASES", "5"))
DERANDOMIZED = "FUZZ_API_CASES" not in os.environ
PORTAL = Portal()
MANY = 100  # of so many valid requests one at least must do what it asks
#: Only a cluster with a queue of its own can do the first, the emulated Grid has none; the last needs a recorded trace.
REFUSED = {f"POST /api/jobs/{{id}}/{verb}" for verb in ("hold", "release", "requeue", "take", "move")}
REFUSED |= {"POST /api/applications/{slug}/skeletons"}
WHO = ("anonymous", *ROLES)
VERBS = ("get", "post", "put", "patch", "delete")
CHECKS = [
    checks.not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
#: Operations are tried in so many parts, for the rows take longer to make than a request.
PARTS = 8


def labels() -> list[str]:
    """Every operation by its method and path; to write the document takes a second, so not while tests are read."""
    found = (f"{verb.upper()} {path}" for path, item in document()["paths"].items() for verb in item if verb in VERBS)
    return sorted(found)


def test_every_operation_is_tried():
    assert set(operations(PORTAL)) == set(labels())
    assert len(labels()) > 35


@pytest.mark.timeout(14_400)
@pytest.mark.parametrize("part", range(PARTS))
def test_valid_requests_are_answered_as_the_document_says(
    part: int,
    people: dict[str, Any],
    application: Any,
    make_job: Callable[..., Any],
    client_as: Callable[..., Client],
    record_property: Callable[[str, object], None],
) -> None:
    rows = make_rows(people, application, make_job)
    carried = {role: {name: morsel.value for name, morsel in client_as(role).cookies.items()} for role in WHO}
    failed = []
    for label in labels()[part::PARTS]:
        answers: Counter[str] = Counter()
        try:
            requests(operations(PORTAL)[label], rows, carried, answers)()
            judge(label, answers)
        except Exception as error:  # noqa: BLE001 - the others are tried too
            error.add_note(f"while trying {label}")
            failed.append(error)
        record_property(label, json.dumps(answers, sort_keys=True))
    if failed:
        raise ExceptionGroup("what the document does not say", failed)


def requests(
    operation: Any, rows: Rows, carried: dict[str, dict[str, str]], answers: Counter[str]
) -> Callable[[], None]:
    """Tries the operation as each role, and counts in `answers` what it was answered."""

    @settings(max_examples=CASES, derandomize=DERANDOMIZED, database=None, suppress_health_check=HealthCheck)
    @given(case=cases(operation, rows), role=strategies.sampled_from(WHO))
    def each(case: Any, role: str) -> None:
        PORTAL.cookies = carried[role]
        answer = case.call()
        answers[f"{role} {answer.status_code}"] += 1
        case.validate_response(answer, checks=CHECKS)

    return each


def judge(label: str, answers: Counter[str]) -> None:
    """Strangers get nothing, and of many requests one does what it asks."""
    strangers = {answer for answer in answers if answer.startswith("anonymous")}
    assert strangers <= {"anonymous 401", "anonymous 404"}
    if CASES >= MANY and label not in REFUSED:
        assert any(answer.split()[1].startswith("2") for answer in answers), answers
