"""Registering applications: by an administrator, and those that ship with the portal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.accepted_values import text_of
from gridportal.base.errors import InputError
from gridportal.workloads.catalogue import PROGRAMS
from scheduling.jobs.core import command_line, parameters, patterns, ranks
from scheduling.jobs.core import launcher as script
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.own_restart import RESTART
from scheduling.jobs.core.scaling_table import ScalingTable
from scheduling.jobs.core.stop_means import StopMeans
from scheduling.jobs.models import Application

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
#: What the portal, the launcher and the loader go by is not an application's to change.
_RESERVED = re.compile(r"GRIDPORTAL_.*|HYDRA_.*|PATH|LD_PRELOAD|LD_AUDIT|BASH_ENV|ENV|IFS")
_NOT = "none of PATH, LD_PRELOAD, LD_AUDIT, BASH_ENV, ENV, IFS, GRIDPORTAL_* and HYDRA_*"
MAX_DESCRIPTION, MAX_PHASES, MAX_PHASE = 10_000, 100, 60
MAX_VARIABLES, MAX_VALUE = 100, 4096
_FIELDS = (
    *("slug", "name", "description", "command", "parameters"),
    *("environment", "launcher", "modules", "mpi", "pattern", "ranks", "phases", "enabled"),
    "output_patterns",
    "stop_means",
    "scaling",
)
#: How those are read that are kept as a value, or are looked at only when they are given.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "output_patterns": OutputPatterns.read_sent,
    "stop_means": StopMeans.read,
    "mpi": script.check_mpi,
}


def register_application(
    actor: User | str,
    fields: Mapping[str, object],
    instance: Application | None = None,
    *,
    may_share_name: bool = False,
) -> Application:
    """Register a program, or change `instance`: fields that are not given keep their value. `may_share_name`: though
    another may have its new name. Raises InputError."""
    for name in fields:
        if name not in _FIELDS:
            raise InputError("application", name, "one of " + ", ".join(_FIELDS))
    if instance is not None and fields.get("slug", instance.slug) != instance.slug:
        raise InputError("slug", fields["slug"], f"{instance.slug}, which is its address and stays")
    application = instance or Application()
    before = application.name
    for name, value in fields.items():
        setattr(application, name, _READERS[name](value) if name in _READERS else value)
    _check(application)
    if not may_share_name and not is_same_name(before, application.name):
        others = Application.objects.filter(owner__isnull=True).exclude(slug=application.slug).exclude(command=[])
        if has_name(others, application.name):
            raise InputError("name", application.name, "a name that no other application has")
    created = application.pk is None
    try:
        with transaction.atomic():
            application.save(update_fields=None if created else [*fields, "updated_at"])  # others save the rest
            action = "application.register" if created else "application.change"
            audit(actor, action, application, slug=application.slug, command=application.command)
    except IntegrityError as error:
        raise InputError("slug", application.slug, "a word that no other application has") from error
    return application


def install_catalogue(actor: User | str = "portal") -> list[Application]:
    """Register the programs that ship with the portal; those already there are brought up to date, or left alone."""
    return [_install(actor, program) for program in PROGRAMS]


def _install(actor: User | str, program: Mapping[str, object]) -> Application:
    fields = {**program, "ranks": ranks.check(program.get("ranks", {}))}
    earlier = Application.objects.filter(slug=fields["slug"]).first()
    kept = {name: _READERS[name](value) if name in _READERS else value for name, value in fields.items()}
    if earlier and all(getattr(earlier, name) == value for name, value in kept.items()):
        return earlier
    return register_application(actor, fields, earlier, may_share_name=True)


def is_same_name(one: str, other: str) -> bool:
    """Whether people take two names for one: the case of letters and the space around them do not tell them apart.

    >>> is_same_name("Heat", " heat "), is_same_name("Heat", "Heat 2")
    (True, False)
    """
    return one.strip().casefold() == other.strip().casefold()


def has_name(applications: QuerySet[Application], name: str) -> bool:
    """Whether one of them has that name."""
    return any(is_same_name(each, name) for each in applications.values_list("name", flat=True))


def problems_of(application: Application) -> list[InputError]:
    """All that cannot be accepted of an application, so that a form can say it at once, each beside its field."""
    problems = []
    for check in _CHECKS:
        try:
            check(application)
        except InputError as error:
            problems.append(error)
    return problems


def _check(application: Application) -> None:
    for check in _CHECKS:
        check(application)


def _check_slug(application: Application) -> None:
    if not isinstance(application.slug, str) or not _SLUG.fullmatch(application.slug):
        raise InputError("slug", application.slug, "up to 60 small letters, digits and dashes")


def _check_name(application: Application) -> None:
    if not application.name.strip() or len(application.name) > 120 or not application.name.isprintable():
        raise InputError("name", application.name[:40], "1 to 120 printable characters")


def _check_ranks(application: Application) -> None:
    application.ranks = ranks.check(application.rank_limits)
    if application.pattern:
        patterns.named(application.pattern, ranks.sample(application.rank_limits))


def _check_scaling(application: Application) -> None:
    application.scaling = ScalingTable.read(application.scaling).document() if application.scaling else {}


def _check_mpi(application: Application) -> None:
    if not isinstance(application.mpi, str) or len(application.mpi) > 60 or not application.mpi.isprintable():
        raise InputError("mpi", str(application.mpi)[:40], "at most 60 printable characters, such as Open MPI 4.1")


def _check_command(application: Application) -> None:
    """With the placeholders that only programs have which can be stopped."""
    names = {parameter.name for parameter in parameters.parse(application.parameters)}
    means = application.stop_means
    parameters.check_command(application.command, names | means.placeholders)
    if means.own is None:
        return
    if taken := names & means.placeholders:
        raise InputError("parameters", min(taken), "a name that the portal does not use in the command itself")
    if RESTART not in application.command:
        raise InputError("command", command_line.join(application.command), f"a command with {RESTART} as a word")


def _check_progress(application: Application) -> None:
    names = [parameter.name for parameter in parameters.parse(application.parameters)]
    progress = application.output_patterns.progress
    if progress and progress.of and progress.of not in names:
        raise InputError("progress_of", progress.of, "one of the parameters: " + (", ".join(names) or "there are none"))


def _check_text(description: Any, phases: Any) -> None:
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION:
        raise InputError("description", description, text_of(MAX_DESCRIPTION))
    if not isinstance(phases, list) or len(phases) > MAX_PHASES:
        raise InputError("phases", phases, f"a list of at most {MAX_PHASES} words")
    for phase in phases:
        if not isinstance(phase, str) or not 1 <= len(phase) <= MAX_PHASE or not phase.isprintable():
            raise InputError("phases", phase, f"words of at most {MAX_PHASE} printable characters")


def _check_environment(environment: Any) -> None:
    if not isinstance(environment, dict) or len(environment) > MAX_VARIABLES:
        raise InputError("environment", environment, f"an object of at most {MAX_VARIABLES} variables and their text")
    for name, value in environment.items():
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise InputError("environment", name, "a variable name of letters, digits and _")
        if _RESERVED.fullmatch(name):
            raise InputError("environment", name, f"a variable that does not decide what starts the program: {_NOT}")
        if not isinstance(value, str) or len(value) > MAX_VALUE or not value.isprintable():
            raise InputError(f"environment.{name}", value, f"a text of one line, at most {MAX_VALUE:,} characters")


#: In the order of the form.
_CHECKS: tuple[Callable[[Application], object], ...] = (
    _check_slug,
    _check_name,
    _check_command,
    _check_progress,
    lambda application: _check_environment(application.environment),
    lambda application: script.check_launcher(application.launcher),
    lambda application: script.check_modules(application.modules),
    _check_mpi,
    lambda application: _check_text(application.description, application.phases),
    _check_ranks,
    _check_scaling,
)
