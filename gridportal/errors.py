"""The error family. Every message is one sentence that says what is wrong and what to do next."""

from __future__ import annotations


class GridPortalError(Exception):
    """Something failed for a reason that a person can act on. Exit code 1 on the command line."""

    exit_code = 1


class InputError(GridPortalError):
    """A value that cannot be accepted. Exit code 2; names the field, the value and what would do.

    >>> str(InputError("nodes", 0, "a whole number from 1 to 10"))
    'nodes is 0; accepted is a whole number from 1 to 10.'
    """

    exit_code = 2

    def __init__(self, field: str, value: object, accepted: str) -> None:
        self.field = field
        self.value = value
        self.accepted = accepted
        super().__init__(f"{field} is {value!r}; accepted is {accepted.rstrip('.')}.")


class ImpossibleError(GridPortalError):
    """A well-formed request that nothing here can satisfy; names what fails and the best to be had."""

    exit_code = 2


class ShellError(GridPortalError):
    """A command could not be started, failed, or ran out of time."""


class BackendError(GridPortalError):
    """A backend (emulated Grid, Slurm) could not be reached or refused."""
