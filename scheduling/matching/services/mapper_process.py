"""The process of a mapper: a question on standard input, shares on standard output, failures on standard error."""

from __future__ import annotations

import sys

import msgspec

from gridportal.base.plugin_processes import error_text, limit_memory, without_output
from scheduling.matching.core.mapping.mapper_interface import MapperQuestion, checked
from scheduling.matching.services.mapping import dumped, load_mapper


def main(name: str) -> int:
    """Ask the mapper of that name. The exit code is 1 where it fails."""
    limit_memory()
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=MapperQuestion)
    try:
        with without_output():
            shares = dumped(checked(list(load_mapper(name)(question)), len(question.machines)))
    except Exception as error:  # noqa: BLE001 - a mapper may raise anything; its words are the report
        sys.stderr.write(f"{error_text(error)}\n")
        return 1
    sys.stdout.buffer.write(shares)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
