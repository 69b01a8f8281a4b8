"""Few downloads hold threads of the web server at once; each stops counting whatever ends it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client

from gridportal.base.errors import BusyError
from gridportal.serve.programs import WEB_THREADS
from gridportal.web.downloads import MOST, MOST_OF_ONE, as_download

pytestmark = pytest.mark.django_db  # the end of an answer looks at the connection


def stream() -> HttpResponseBase:
    return StreamingHttpResponse(iter([b"a", b"b"]))


def breaks() -> Iterator[bytes]:
    yield b"a"
    raise ZeroDivisionError


def has_room(person: int) -> bool:
    """Whether one more of this person goes on; it counts no more behind this."""
    try:
        as_download(person, stream).close()
    except BusyError:
        return False
    return True


def test_threads_are_left_for_all_others() -> None:
    assert MOST_OF_ONE < MOST <= WEB_THREADS - 3


def test_one_person_has_so_many_and_others_theirs() -> None:
    kept = [as_download(1, stream) for _ in range(MOST_OF_ONE)]
    with pytest.raises(BusyError, match="downloads of yours are under way; ask again in 10 seconds"):
        as_download(1, stream)
    assert has_room(2)
    kept += [as_download(2, stream) for _ in range(MOST - MOST_OF_ONE)]
    with pytest.raises(BusyError, match="The portal sends as many downloads as it can; ask again in 10 seconds"):
        as_download(3, stream)
    kept[0].close()
    assert has_room(3)


def read_whole(response: HttpResponseBase) -> None:
    assert b"".join(response) == b"ab"


def read_some_and_close(response: HttpResponseBase) -> None:
    assert next(iter(response)) == b"a"
    response.close()


@pytest.mark.parametrize("end", [read_whole, read_some_and_close, lambda response: response.close()])
def test_a_download_counts_until_it_ends(end: Callable[[HttpResponseBase], None]) -> None:
    kept = [as_download(1, stream) for _ in range(MOST_OF_ONE)]
    assert not has_room(1)
    end(kept[0])
    assert has_room(1)
    kept[0].close()
    as_download(1, stream)
    assert kept


def test_a_stream_that_breaks_or_is_lost_counts_no_more() -> None:
    for _ in range(MOST + 1):
        response = as_download(1, lambda: StreamingHttpResponse(breaks()))
        with pytest.raises(ZeroDivisionError):
            b"".join(response)
    for _ in range(MOST + 1):
        as_download(1, stream)
        gc.collect(1)  # what has just been made is young: to look through all takes long


def test_what_is_no_stream_counts_no_more() -> None:
    def fails() -> HttpResponseBase:
        raise ZeroDivisionError

    for _ in range(MOST + 1):
        as_download(1, HttpResponse)
        with pytest.raises(ZeroDivisionError):
            as_download(1, fails)


def counts(client: Client) -> dict[str, float]:
    """How many downloads and submissions were refused, as /metrics tells."""
    lines = client.get("/metrics").content.decode().splitlines()
    return {
        what: sum(float(line.split()[1]) for line in lines if line.startswith(f"gridportal_{what}_refused_total"))
        for what in ("downloads", "submissions")
    }


def test_pages_and_rest_refuse_one_too_many(client_as, people, make_job) -> None:
    run = make_job(people["user"], "succeeded").runs.get()
    Path(run.run_dir, "big").write_bytes(bytes(1 << 20))
    before = counts(client_as("user"))
    client, page, rest = client_as("user"), f"/jobs/{run.job_id}/runs/1", f"/api/jobs/{run.job_id}/runs/1"
    asked = [f"{page}/archive", f"{page}/file?path=big", f"{rest}/archive", f"{rest}/file?path=big"]
    asked.append(f"/jobs/{run.job_id}/log")
    kept = [client.get(where) for where in asked[1:4]]
    for where in asked:
        refused = client.get(where)
        assert (refused.status_code, refused["Retry-After"]) == (429, "10"), where
        assert b"3 downloads of yours are under way" in refused.content
    after = counts(client)
    assert after["downloads"] - before["downloads"] == len(asked)
    assert after["submissions"] == before["submissions"]
    assert client.get("/healthz").status_code in (200, 503)
    for answer in kept:
        assert answer.status_code == 200
        answer.close()
    assert all(b"".join(client.get(where)) for where in asked[:-1])
