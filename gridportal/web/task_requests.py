"""The id of a request goes along with the tasks that it asks for: the log and audit rows of the worker name it too."""

from __future__ import annotations

from typing import Any

from celery import Task
from celery.signals import before_task_publish, task_postrun, task_prerun

from gridportal.web.middleware import current_request_id

_HEADER = "gridportal_request_id"


@before_task_publish.connect
def send_along(headers: dict[str, Any] | None = None, **_: object) -> None:
    """Put the id of the request, or of the task, in which this happens into the message of the next task."""
    if headers is not None and current_request_id.get():
        headers[_HEADER] = current_request_id.get()


@task_prerun.connect
def take_up(task: Task[..., Any], **_: object) -> None:
    """Work under the id that came with the message; what beat starts has none."""
    if not task.request.is_eager:
        current_request_id.set(getattr(task.request, _HEADER, ""))


@task_postrun.connect
def forget(task: Task[..., Any], **_: object) -> None:
    """The thread goes on to other tasks."""
    if not task.request.is_eager:
        current_request_id.set("")
