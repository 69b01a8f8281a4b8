"""The files that a run has left: its folder, one of them to look at, and their download."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gridportal.base import run_archive, run_listing
from gridportal.base.errors import BusyError, InputError
from gridportal.base.run_directory import RunFileError
from gridportal.base.run_listing import Entry, EntryKind, is_text
from scheduling.jobs.core.input_files import read_all
from scheduling.pages.file_preview import preview_of
from scheduling.pages.run_file_access import (
    check_may_read,
    directory_of,
    open_file,
    refusal,
    run_archive_response,
    run_file_response,
)
from scheduling.pages.views.job import visible_run
from scheduling.runs.models import Run

_WHY_NOT = {
    EntryKind.LINK: "a link; links are not followed",
    EntryKind.SECOND_NAME: "has a second name (a hard link), so that it may be anybody’s file",
    EntryKind.SPECIAL: "a pipe, socket or device",
}


@dataclass(frozen=True, slots=True)
class FileRow:
    """An entry as the page shows it. `query`: leads to it; empty where it is not opened. `why`: then why not.
    `is_input`: it came with the job."""

    entry: Entry
    name: str
    query: str
    why: str
    modified: datetime
    is_input: bool


@require_safe
def files(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """A folder of the run directory, or one of its files."""
    run = readable_run(request, pk, number)
    path = request.GET.get("path", "")
    context: dict[str, object] = {"run": run, "job": run.job, "path": path, "crumbs": _crumbs(path)}
    context["archive_query"] = urlencode({"path": path})
    try:
        if request.GET.get("view") == "file":
            return render(request, "scheduling/files/file.html", context | _one(run, path))
        directory = directory_of(run)
        listing = run_listing.list_folder(directory, path)
        inputs = set() if path.strip("/") else {each.name for each in read_all(run.job.inputs)}
        context |= {"rows": [_row(path, entry, inputs) for entry in listing.entries], "left_out": listing.left_out}
        use = run_listing.folder_use(directory)
        context |= {"use": use, "archive_size": run_archive.expected_size(use)}
    except RunFileError as error:
        return render(request, "scheduling/files/folder.html", context | {"problem": str(error)}, status=404)
    return render(request, "scheduling/files/folder.html", context)


@require_safe
def download(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """A file of the run directory, whole or the range that is asked for; pictures also to be shown on a page."""
    path = request.GET.get("path", "")
    try:
        return run_file_response(request, readable_run(request, pk, number), path, inline="inline" in request.GET)
    except (RunFileError, BusyError) as error:
        return refusal(error)


@require_safe
def archive(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """A folder of the run directory, with all folders below it, as one file."""
    try:
        return run_archive_response(request, readable_run(request, pk, number), request.GET.get("path", ""))
    except (RunFileError, InputError, BusyError) as error:
        return refusal(error)


def readable_run(request: HttpRequest, pk: int, number: int) -> Run:
    """The run, or a refusal in words, or 404."""
    run = visible_run(request, pk, number)
    check_may_read(request, run.job)
    return run


def _one(run: Run, path: str) -> dict[str, object]:
    with open_file(run, path) as file:
        preview = preview_of(file, path, os.fstat(file.fileno()).st_size)
    return {"preview": preview, "query": urlencode({"path": path})}


def _row(folder: str, entry: Entry, inputs: set[str]) -> FileRow:
    path = f"{folder.strip('/')}/{entry.name}".lstrip("/")
    shown = "".join(letter if letter.isprintable() else "�" for letter in entry.name)
    why = _WHY_NOT.get(entry.kind, "")
    if not why and not is_text(entry.name):
        why = "its name is no UTF-8; it comes with the whole folder"
    query = "" if why else urlencode({"path": path} | ({"view": "file"} if entry.kind is EntryKind.FILE else {}))
    modified = datetime.fromtimestamp(entry.modified, UTC)
    return FileRow(entry, shown, query, why, modified, is_input=entry.name in inputs)


def _crumbs(path: str) -> list[tuple[str, str]]:
    """The folders above: name and query."""
    parts = path.strip("/").split("/")[:20] if path.strip("/") else []
    return [(part, urlencode({"path": "/".join(parts[: place + 1])})) for place, part in enumerate(parts)]
