"""Programs that people bring themselves: an application of their own, shared with some, offered to everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.text import slugify

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, InputError, SeveralInputsError
from gridportal.base.held_row import hold
from scheduling.jobs.core import program_start
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.program_start import ProgramKind
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import ApplicationShare, OwnProgram
from scheduling.jobs.selectors import usable_applications, without_logs
from scheduling.jobs.services.registering import has_name, is_same_name, problems_of
from scheduling.jobs.services.share_partners import partner

#: How many applications a person may have of their own.
MOST = 100
_LONGEST_SLUG = 60


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """What a person says of a program of their own. `content`: uploaded; None: it lies at `path`, or stays what it was
    where that is empty. `mpi`: a key of MPIS. The rest is as an Application has it."""

    name: str
    kind: str = ProgramKind.MPI.value
    path: str = ""
    content: bytes | None = None
    file_name: str = ""
    arguments: Sequence[str] = ()
    mpi: str = "mpich"
    description: str = ""
    parameters: Sequence[Mapping[str, object]] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    modules: Sequence[str] = ()
    pattern: str = ""
    output_patterns: Mapping[str, object] = field(default_factory=dict)
    ranks: Mapping[str, object] = field(default_factory=dict)
    enabled: bool = True


@transaction.atomic
def save_program(owner: User, asked: ProgramRequest, instance: Application | None = None) -> Application:
    """Keep a program as an application of `owner`'s own, or change `instance`. Raises SeveralInputsError with all that
    is wrong, ConflictError where it is not the owner's any more."""
    if instance is not None:
        _hold(owner, instance)
    before = [(row, _columns(row)) for row in (instance, instance.program)] if instance else []
    application, program, errors = _filled(owner, asked, instance)
    if errors:
        raise SeveralInputsError(errors)
    for row, columns in before:
        _save_changed(row, columns)
    if instance is None:
        application.save()
        program.application = application
        program.save()
    facts = {"slug": application.slug, "command": application.command}
    audit(owner, "application.change" if instance else "application.bring", application, **facts)
    return application


def _save_changed(row: Model, before: Mapping[str, object]) -> None:
    """What somebody else has changed since it was read stays."""
    changed = [name for name, value in _columns(row).items() if value != before[name]]
    row.save(update_fields=[*changed, "updated_at"] if isinstance(row, Application) else changed)


def _columns(row: Model) -> dict[str, object]:
    """The values of a row by their fields, apart from what changes inside them later."""
    return {each.attname: deepcopy(getattr(row, each.attname)) for each in row._meta.concrete_fields}


def problems_with(owner: User, asked: ProgramRequest, instance: Application | None = None) -> list[InputError]:
    """All that is wrong; nothing is kept."""
    return _filled(owner, asked, instance)[2]


def _filled(
    owner: User, asked: ProgramRequest, instance: Application | None
) -> tuple[Application, OwnProgram, list[InputError]]:
    """The rows with what was asked, not written yet, and what cannot be accepted."""
    application = instance or Application(owner=owner)
    application.offered_at = None  # what administrators look at is what they publish
    program = instance.program if instance else OwnProgram()
    errors = []
    if not is_same_name(application.name, asked.name):
        others = without_logs(usable_applications(owner)).exclude(pk=application.pk)
        if has_name(others, asked.name):
            errors.append(InputError("name", asked.name, "a name that no other program has which you may submit"))
    if instance is None:
        application.slug = _free_slug(owner, asked.name)
        if Application.objects.filter(owner=owner).count() >= MOST:
            errors.append(InputError("name", f"number {MOST + 1}", f"at most {MOST} programs of your own"))
    errors += [*_fill(application, program, asked), *problems_of(application)]
    return application, program, errors


def _fill(application: Application, program: OwnProgram, asked: ProgramRequest) -> list[InputError]:
    """Set what was asked; what cannot be accepted of the program itself."""
    errors = []
    for name in ("name", "description", "pattern", "enabled"):
        setattr(application, name, getattr(asked, name))
    application.parameters, application.modules = [dict(each) for each in asked.parameters], list(asked.modules)
    application.environment, application.ranks = dict(asked.environment), dict(asked.ranks)
    for step in (_fill_source, _fill_start, _fill_patterns):
        try:
            step(application, program, asked)
        except InputError as error:
            errors.append(error)
            application.command = application.command or ["true"]
    return errors


def _fill_source(_: Application, program: OwnProgram, asked: ProgramRequest) -> None:
    if asked.path and asked.content is not None:
        raise InputError("path", asked.path, "nothing where a program is uploaded: either its path or its file")
    if asked.path:
        program.path, program.content = program_start.check_path(asked.path), None
        program.file_name, program.size = "", 0
    elif asked.content is not None:
        if bytes(program.content or b"") != asked.content:
            program.file_name = _plain_name(asked.file_name)
        program.content, program.path = program_start.check_content(asked.content), ""
        program.size = len(asked.content)
    elif program.content is None:
        raise InputError("path", "", "the path of the program, or upload or paste it")


def _fill_start(application: Application, program: OwnProgram, asked: ProgramRequest) -> None:
    kind, mpi = program_start.check_kind(asked.kind), program_start.check_mpi(asked.mpi)
    program.kind, program.mpi = kind, mpi
    if asked.content:
        program_start.check_start(kind, asked.content, asked.file_name)
    application.mpi = program_start.MPIS[mpi][0]
    application.launcher = program_start.launcher_of(kind, mpi)
    application.command = program_start.command(kind, program.path, asked.arguments)


def _fill_patterns(application: Application, _: OwnProgram, asked: ProgramRequest) -> None:
    application.output_patterns = OutputPatterns.read_sent(asked.output_patterns)


def _plain_name(file_name: str) -> str:
    """The last part of a file's name, for people to recognize it; it names nothing on a disk."""
    last = file_name.replace("\\", "/").rpartition("/")[2]
    return "".join(letter for letter in last if letter.isprintable())[:120] or "program"


def _free_slug(owner: User, name: str) -> str:
    """With the owner's number: whether somebody else has a program of that name is not to be told."""
    stem = f"own-{owner.pk}-{slugify(name) or 'program'}".lower().replace("_", "-")[: _LONGEST_SLUG - 4].strip("-")
    taken = set(Application.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    return next(slug for slug in (stem, *(f"{stem}-{number}" for number in range(2, MOST + 2))) if slug not in taken)


@transaction.atomic
def share_program(owner: User, application: Application, whom: str) -> ApplicationShare:
    """Let a person, or a group of the owner's, submit it; twice changes nothing. Raises InputError, ConflictError."""
    _hold(owner, application)
    other = partner(owner, whom)
    if isinstance(other, User):
        share, _ = ApplicationShare.objects.get_or_create(application=application, person=other)
    else:
        share, _ = ApplicationShare.objects.get_or_create(application=application, group=other)
    audit(owner, "application.share", application, whom=whom)
    return share


@transaction.atomic
def stop_sharing(owner: User, share: ApplicationShare) -> None:
    """Let that person or group submit it no more; what they have submitted goes on."""
    audit(owner, "application.unshare", share.application, whom=share.with_whom)
    share.delete()


@transaction.atomic
def offer_program(owner: User, application: Application, *, offered: bool = True) -> Application:
    """Ask the administrators to publish it, or ask no more. Raises ConflictError where it is not the owner's any
    more."""
    _hold(owner, application)
    application.offered_at = timezone.now() if offered else None
    application.save(update_fields=["offered_at"])
    audit(owner, "application.offer" if offered else "application.withdraw", application)
    return application


@transaction.atomic
def publish_program(actor: User, application: Application, offered_at: datetime) -> Application:
    """Make a program everybody's that was offered at that time, and not changed since: from now on administrators
    change it. Raises ConflictError."""
    rows = Application.objects.filter(pk=application.pk, owner__isnull=False, offered_at=offered_at)
    if not rows.update(owner=None, offered_at=None):
        raise ConflictError(f"{application.name} is not offered any more as you have seen it; look at it again.")
    application.shares.all().delete()
    audit(actor, "application.publish", application, slug=application.slug, owner=str(application.owner))
    application.refresh_from_db()
    return application


def _hold(owner: User, application: Application) -> None:
    """Let nobody publish it until this is written: what was published meanwhile is not to become private again."""
    gone = "is not yours any more: it was published, or removed."
    hold(application, application.name, gone=gone, owner=owner)


@transaction.atomic
def remove_program(owner: User, application: Application) -> None:
    """Take it away. Raises ConflictError where jobs have run it: these are kept, and so is what they ran."""
    _hold(owner, application)
    if application.jobs.exists():
        raise ConflictError(f"Jobs have run {application.name}, so it is kept; switch it off instead.")
    audit(owner, "application.remove", application, slug=application.slug)
    application.delete()
