"""Reading the files of a run's folder for the page and for REST: who may, and one of them as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from gridportal.accounts.caller import caller
from gridportal.base import run_archive, run_directory, run_listing
from gridportal.base.errors import BusyError, GridPortalError, InputError
from gridportal.web.downloads import as_download
from gridportal.web.file_ranges import file_response
from gridportal.web.refused_file import text_answer
from scheduling.jobs.models import Job
from scheduling.pages.file_preview import picture_type
from scheduling.runs import selectors
from scheduling.runs.models import Run

_BINARY = "application/octet-stream"


def run_file_response(request: HttpRequest, run: Run, path: str, *, inline: bool = False) -> HttpResponseBase:
    """The answer with a file. Raises RunFileError, Http404, BusyError for one download too many."""
    return as_download(caller(request).pk, lambda: _file_answer(request, run, path, inline=inline))


def run_archive_response(request: HttpRequest, run: Run, path: str) -> HttpResponseBase:
    """The answer with a folder of the run directory as a tar. Raises RunFileError, InputError, Http404, BusyError for
    one download too many."""
    return as_download(caller(request).pk, lambda: _archive_answer(run, path))


def refusal(error: GridPortalError) -> HttpResponse:
    """The answer to who asked for a file with a browser: the sentence alone."""
    if isinstance(error, BusyError):
        answer = text_answer(str(error), 429)
        answer["Retry-After"] = str(error.retry_after)
        return answer
    return text_answer(str(error), 400 if isinstance(error, InputError) else 404)


def _file_answer(request: HttpRequest, run: Run, path: str, *, inline: bool) -> HttpResponseBase:
    file = open_file(run, path)
    picture = picture_type(file.read(16)) if inline else ""
    file.seek(0)
    name = path.rpartition("/")[2]
    asked = request.headers.get("Range", "")
    return file_response(file, name, asked, content_type=picture or _BINARY, inline=bool(picture))


def _archive_answer(run: Run, path: str) -> HttpResponseBase:
    name = f"job-{run.job_id}-run-{run.number}"
    archive = run_archive.archive_of(directory_of(run), path, name)
    response = StreamingHttpResponse(archive.pieces(), content_type="application/x-tar")
    response["Content-Length"] = archive.size
    response["Content-Disposition"] = f'attachment; filename="{name}.tar"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def check_may_read(request: HttpRequest, job: Job) -> None:
    """Raises PermissionDenied for who sees the job but not its files."""
    if not request.user.has_perm("scheduling.read_job_files", job):
        raise PermissionDenied(f"Only its owner and operators read the files of job {job.pk}.")


def directory_of(run: Run) -> Path:
    """The run directory. Raises Http404 where it is gone."""
    directory = selectors.directory_of(run)
    if directory is None or not directory.is_dir():
        raise Http404(f"Run {run.number} of job {run.job_id} has no folder (any more).")
    return directory


def open_file(run: Run, path: str) -> BinaryIO:
    """A plain file of the run directory. Raises RunFileError, Http404."""
    checked = run_listing.check_path(path)
    file = run_directory.open_plain(directory_of(run), checked) if checked else None
    if file is None:
        raise Http404("There is no such file (any more).")
    return file
