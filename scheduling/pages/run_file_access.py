"""Reading the files of a run's folder for the page and for REST: who may, and one of them as an answer."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse

from gridportal.base import run_archive, run_directory, run_listing
from gridportal.web.file_ranges import file_response
from scheduling.jobs.models import Job
from scheduling.pages.file_preview import picture_type
from scheduling.runs import selectors
from scheduling.runs.models import Run

_BINARY = "application/octet-stream"


def run_file_response(request: HttpRequest, run: Run, path: str, *, inline: bool = False) -> HttpResponseBase:
    """The answer with a file. Raises RunFileError, Http404."""
    file = open_file(run, path)
    picture = picture_type(file.read(16)) if inline else ""
    file.seek(0)
    name = path.rpartition("/")[2]
    asked = request.headers.get("Range", "")
    return file_response(file, name, asked, content_type=picture or _BINARY, inline=bool(picture))


def run_archive_response(run: Run, path: str) -> HttpResponseBase:
    """The answer with a folder of the run directory as a tar. Raises RunFileError, InputError, Http404."""
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
