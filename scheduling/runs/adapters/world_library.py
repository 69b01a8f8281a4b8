"""The library that notes how large each MPI world of a job is, for programs of any MPI."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gridportal.base import compiled_c, run_files
from gridportal.base.errors import BackendError, ShellError
from gridportal.runtime import worlds as library

FOLDER_VARIABLE = "GRIDPORTAL_WORLDS"
_SOURCE = Path(library.__file__).with_name("worlds.c")
#: Without the C library's name or any version: what it calls is looked up in the one that the program has.
_FLAGS = (
    *("-O2", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-Wl,-z,lazy"),
    *("-Wall", "-Wextra"),
)
#: Programs with a sanitizer want to load that first, and end otherwise: they run without.
_SCRIPT = (
    'export GRIDPORTAL_STARTED=$$; if [ -r "$0" ] && ! grep -qs "lib[alt]san\\.so" "$(command -v "$1")"; then '
    'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; fi; exec "$@"'
)


def built(cache: Path) -> Path:
    """The library in `cache`, which all nodes see; compiled when it is not there. Raises BackendError without a
    compiler."""
    made = cache / f"worlds-{hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]}.so"
    if made.exists():
        return made
    try:
        cache.mkdir(parents=True, exist_ok=True)
        compiled_c.put(made, [_SOURCE], _FLAGS)
    except (OSError, ShellError) as error:
        raise BackendError(f"The library that counts worlds could not be built: {error}") from error
    return made


def prefix(library: Path, directory: Path | str) -> tuple[str, ...]:
    """The words right before a program's own that let it note its worlds in the run directory."""
    folder = f"{FOLDER_VARIABLE}={directory}/{run_files.WORLDS}"
    return ("env", folder, "sh", "-c", _SCRIPT, str(library))
