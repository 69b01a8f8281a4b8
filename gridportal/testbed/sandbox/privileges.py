"""The last steps before a program of a run is executed: limits, another user, no rights that can ever come back."""

from __future__ import annotations

import os
import resource

from gridportal.testbed import kernel
from gridportal.testbed.sandbox import seccomp
from gridportal.testbed.sandbox.order import Identity, Limits


def bound() -> None:
    """Once in the first process of a run, which keeps its rights: what it forks can execute nothing that has any."""
    kernel.bound_capabilities()


def drop(identity: Identity | None, limits: Limits) -> None:
    """Limit this process, become `identity` without further groups, and give up every capability.

    Without an identity it stays the user who runs the Grid, whose keys of the kernel are closed to it.

    Raises OSError when the kernel refuses: then nothing may be executed.
    """
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
    ):
        if most or kind == resource.RLIMIT_CORE:
            _limit(kind, most)
    if identity is not None:
        os.setgroups([])
        os.setresgid(identity.gid, identity.gid, identity.gid)
        os.setresuid(identity.uid, identity.uid, identity.uid)
    kernel.give_up_privileges()
    if identity is None:
        seccomp.close_keys()


def _limit(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (value, value))
