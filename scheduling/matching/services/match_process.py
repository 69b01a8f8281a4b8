"""The process of a match: a MatchQuestion as JSON on standard input, a MatchAnswer on standard output.

Exit code 2 with a TextFault in its place for a text that cannot be read.
"""

from __future__ import annotations

import contextlib
import resource
import sys
from dataclasses import replace

import msgspec

from gridportal.base.errors import GridPortalError, InputError, TextError, shown
from scheduling.matching.core.answers import TextFault
from scheduling.matching.services.match_texts import MatchQuestion, answer


def main(memory: int) -> int:
    """Answer within so many bytes of address space, where the system can limit it."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=MatchQuestion)
    try:
        made = answer(question)
    except InputError as error:
        sys.stdout.buffer.write(msgspec.json.encode(_fault(error)))
        return InputError.exit_code
    except GridPortalError as error:
        sys.stderr.write(f"{error}\n")
        return GridPortalError.exit_code
    sys.stdout.buffer.write(msgspec.json.encode(made))
    return 0


def _fault(error: InputError) -> TextFault:
    fault = TextFault(error.field, shown(error.value), error.accepted.rstrip("."), str(error))
    if not isinstance(error, TextError):
        return fault
    return replace(fault, pointer=error.pointer, line=error.line, column=error.column)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
