"""The process of a mapper: a question on standard input, shares on standard output, failures on standard error.

It knows the interface alone: a mapper that needs no numpy does not wait for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from gridportal.base.plugin_processes import error_text, limit_memory, load_plugin, without_output
from scheduling.matching.core.mapping.mapper_interface import GROUP, MappedShare, Mapper, MapperQuestion, checked


def main(name: str) -> int:
    """Ask the mapper of that name. The exit code is 1 where it fails."""
    limit_memory()
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=MapperQuestion)
    try:
        with without_output():
            shares = _dumped(checked(list(_mapper(name)(question)), len(question.machines)))
    except Exception as error:  # noqa: BLE001 - a mapper may raise anything; its words are the report
        sys.stderr.write(f"{error_text(error)}\n")
        return 1
    sys.stdout.buffer.write(shares)
    return 0


def _mapper(name: str) -> Mapper:
    """Raises LookupError, and whatever importing it raises."""
    mapper: Mapper = load_plugin(GROUP, name, "mapper")
    return mapper


def _dumped(shares: Sequence[MappedShare]) -> bytes:
    return msgspec.json.encode([MappedShare(int(share.place), float(share.share)) for share in shares])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
