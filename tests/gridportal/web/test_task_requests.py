"""The id of a request reaches the worker, through a real broker and a real worker."""

from __future__ import annotations

import celery
import pytest
from celery.contrib.testing.worker import start_worker

from gridportal.web import task_requests
from gridportal.web.middleware import current_request_id

seen: list[str] = []


@pytest.fixture
def app():
    """An application of its own with a broker in memory; our signals are those of all of Celery."""
    app = celery.Celery("ids", broker="memory://", backend="cache+memory://", set_as_current=False)

    @app.task(name="celery.ping")
    def ping():
        return "pong"

    @app.task(name="note")
    def note(then: bool = False):
        seen.append(current_request_id.get())
        if then:
            note.delay()

    app.note = note
    seen.clear()
    assert task_requests.send_along
    return app


def asked_under(request_id, work):
    token = current_request_id.set(request_id)
    try:
        return work()
    finally:
        current_request_id.reset(token)


def test_a_task_and_the_tasks_that_it_asks_for_work_under_the_id_of_their_request(app):
    with start_worker(app, pool="threads", concurrency=1, perform_ping_check=False):
        asked_under("4f1c2d3e", lambda: app.note.delay(then=True).get(timeout=60))
        app.note.delay().get(timeout=60)
        app.note.delay().get(timeout=60)
    assert sorted(seen) == ["", "", "4f1c2d3e", "4f1c2d3e"]
    assert current_request_id.get() == ""
