"""Files that somebody brings with a job, which lie in the folder of each of its runs before it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gridportal.base import run_files
from gridportal.base.blank_names import is_blank
from gridportal.base.errors import InputError

#: So many of them one job has at most.
MOST = 50
_LONGEST = 120
#: What a run's folder has of its own, in any spelling: some file systems know no capital letters.
RESERVED = frozenset(
    value.lower()
    for name, value in vars(run_files).items()
    if name.isupper() and isinstance(value, str) and not name.endswith("_VARIABLE")
) | {"checkpoints"}
_NAME = f"a name of at most {_LONGEST} visible letters, without a folder, that does not begin with a dot or a dash"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of a job. digest: SHA-256 of its content, by which it is kept; size in bytes."""

    name: str
    digest: str
    size: int

    def document(self) -> dict[str, Any]:
        """As JSON, and back by `read_all`."""
        return {"name": self.name, "digest": self.digest, "size": self.size}


def read_all(documents: Sequence[Mapping[str, Any]]) -> tuple[InputFile, ...]:
    """The files of their documents, as a row has them."""
    return tuple(InputFile(each["name"], each["digest"], each["size"]) for each in documents)


def check_name(name: str) -> str:
    """A name in the folder of a run. Raises InputError for one that leads elsewhere, or is the portal's own.

    >>> check_name("mesh.dat")
    'mesh.dat'
    """
    is_plain = name.isprintable() and not set("/\\") & set(name) and not name.startswith((".", "-"))
    if (
        not is_plain
        or is_blank(name)
        or not 0 < len(name) <= _LONGEST
        or len(name.encode("utf-8", "replace")) > 2 * _LONGEST
    ):
        raise InputError("inputs", name[:_LONGEST], _NAME)
    if name.lower() in RESERVED or name.lower().startswith("gridportal"):
        raise InputError("inputs", name, f"another name: the portal writes {name} itself")
    return name


def merged(before: Sequence[InputFile], after: Sequence[InputFile]) -> tuple[InputFile, ...]:
    """The files of both; of one name those of `after`."""
    return tuple({each.name: each for each in (*before, *after)}.values())


def check_together(inputs: Sequence[InputFile], most_bytes: int) -> None:
    """Raises InputError for too many, for two of one name, and for too much."""
    if len(inputs) > MOST:
        raise InputError("inputs", f"{len(inputs)} files", f"at most {MOST} files with a job")
    seen = set[str]()
    for each in inputs:
        if each.name.lower() in seen:
            raise InputError("inputs", each.name, "each name once")
        seen.add(each.name.lower())
    if (total := sum(each.size for each in inputs)) > most_bytes:
        raise InputError("inputs", size_text(total), f"at most {size_text(most_bytes)} with a job")


def size_text(size: int) -> str:
    """
    >>> size_text(512), size_text(1_500_000), size_text(10**9)
    ('512 bytes', '1.5 MB', '1 GB')
    """
    for unit, bytes_ in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_:
            return f"{size / bytes_:.4g} {unit}"
    return f"{size} bytes"
