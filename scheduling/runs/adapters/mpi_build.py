"""What is built from C with the compiler of an application's own MPI: the recording library, the player of skeletons.

One build serves all programs of one MPI, so it is made once and kept, by compiler, its version and our sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from gridportal.base import atomic_file
from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, InputError, ShellError
from scheduling.jobs.core.launcher import is_open_mpi

_COMPILING = 300.0
_LAUNCHERS = ("mpirun", "mpiexec")
_NO_COMPILER = "the MPI compiler that the application was built with, on PATH or in full"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How something is built: its name in messages, its file's name with {key}, the folder of its sources, the words
    for the compiler before and behind these, a source that is generated, and files elsewhere that they include."""

    noun: str
    file: str
    sources: Path
    flags: tuple[str, ...]
    libraries: tuple[str, ...] = ()
    generated: Callable[[], str] | None = None
    shared: tuple[Path, ...] = ()


def build(recipe: Recipe, mpicc: str, output: Path) -> Path:
    """Compile with `mpicc` into `output`. Raises BackendError with the compiler's words, InputError for what is no
    compiler."""
    if shutil.which(mpicc) is None:
        raise InputError("mpicc", mpicc, _NO_COMPILER)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        files = [*_generated(recipe, Path(folder)), *map(str, sorted(recipe.sources.glob("*.c")))]
        words = [mpicc, *recipe.flags, f"-I{recipe.sources}", "-o", str(made), *files, *recipe.libraries]
        try:
            shell.run(words, timeout=_COMPILING)
        except ShellError as error:
            raise BackendError(f"The {recipe.noun} could not be built with {mpicc}: {error}") from error
        if not made.exists():
            raise InputError("mpicc", mpicc, "the compiler of an MPI; this one wrote nothing")
        # Whole or not at all: programs may be starting with it.
        atomic_file.write(output, made.read_bytes(), mode=stat.S_IMODE(made.stat().st_mode))
    return output


def built(recipe: Recipe, mpicc: str, cache: Path) -> Path:
    """What `recipe` makes for the MPI of `mpicc`, from `cache`, where it is built when it is not there."""
    place = shutil.which(mpicc)
    if place is None:
        raise InputError("mpicc", mpicc, _NO_COMPILER)
    try:
        key = _key(recipe, place, os.stat(place).st_mtime_ns)
    except ShellError as error:
        raise InputError("mpicc", mpicc, f"the compiler of an MPI, which knows -show ({error})") from error
    made = cache / recipe.file.format(key=key)
    return made if made.exists() else build(recipe, place, made)


@lru_cache(maxsize=64)
def _key(recipe: Recipe, mpicc: str, changed: int) -> str:
    """What the result hangs on: the compiler, what it links, and our sources; asked once for each compiler."""
    shown = shell.run([mpicc, "-show"], timeout=30).stdout
    version = shell.run([mpicc, "-v"], timeout=30, check=False)
    digest = hashlib.sha256(f"{os.path.realpath(mpicc)}\n{shown}\n{version.stdout}{version.stderr}".encode())
    digest.update(f"{recipe.flags} {recipe.libraries}".encode())
    if recipe.generated:
        digest.update(recipe.generated().encode())
    for source in sorted([*recipe.sources.glob("*.c"), *recipe.sources.glob("*.h"), *recipe.shared]):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _generated(recipe: Recipe, folder: Path) -> Sequence[str]:
    if recipe.generated is None:
        return ()
    source = folder / "generated.c"
    source.write_text(recipe.generated(), encoding="utf-8")
    return (str(source),)


def mpicc_of(mpi: str, launcher: Sequence[str] = ()) -> str:
    """The compiler of an application's MPI: beside a launcher that is named in full, or with the launcher's ending, as
    Debian names several MPIs (mpirun.openmpi, mpicc.openmpi); else Open MPI's where `mpi` says so, else the one beside
    our Python."""
    for word in map(PurePath, launcher[:3]):
        compiler = f"mpicc{word.suffix}"
        if word.name.startswith(_LAUNCHERS) and (place := _beside(word, compiler)):
            return place
    if is_open_mpi(mpi) or any("openmpi" in word for word in launcher[:3]):
        return "mpicc.openmpi" if shutil.which("mpicc.openmpi") else "mpicc"
    return beside_python("mpicc")


def _beside(launcher: PurePath, compiler: str) -> str:
    """The compiler of a launcher with a path or an ending; nothing for mpiexec alone, of which there are many."""
    if launcher.is_absolute():
        place = str(launcher.with_name(compiler))
        return place if shutil.which(place) else ""
    return compiler if launcher.suffix and shutil.which(compiler) else ""


def beside_python(program: str) -> str:
    """A program of our own environment, else the one on PATH."""
    own = Path(sys.executable).parent / program
    return str(own) if own.exists() else program
