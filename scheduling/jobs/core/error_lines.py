"""Which line of a log tells a person why a program failed: the first error, not what came of it afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What somebody writes who gives up. "error" alone is none: programs print how small theirs is.
_ERROR = re.compile(
    "|".join(
        (
            r"(?i:\bfortran runtime error\b|\bforrtl: severe\b|^ *(?:error )?stop +\D)",
            r"(?i:\bsegmentation fault\b|\bbus error\b|\billegal instruction\b|\bfloating[- ]point exception\b)",
            r"\bCaught signal \d|\bProgram received signal ",
            r"(?i:\bassert(?:ion)?\b.*\bfail)",
            r"\bterminate called after throwing|^\s*what\(\): ",
            r"\*\*\* An error occurred in MPI_|\bMPI_ERR_\w+: |\bFatal error in \w",
            r"(?i:\berror while loading shared libraries\b|\bcommand not found\b|\bsymbol lookup error\b)",
            r"(?i:\bno such file or directory\b|\bpermission denied\b|\bno space left on device\b)",
            r"(?i:\b(?:cannot|can't|could not|unable to|failed to) (?:open|read|write|find|allocate|load|create)\b)",
            r"(?i:\bout of memory\b|\boom[-_]kill|\bbad_alloc\b|exceeded (?:job )?memory limit)",
            r"(?i:^\W*(?:\w+: )?(?:fatal|panic|error)\b *[:!] *(?![-+.\d ]))",
            r"\b(?:ERROR|FATAL)\b(?! *[=:]? *[-+.\d])",
            r"^There are not enough slots available|^slots that were requested by the application",
        )
    )
)
#: What a launcher says about itself in runs that go well: Open MPI's mpirun, when its child was quicker than itself.
_HARMLESS = re.compile(r"\bplm:(?:rsh|ssh): Warning: setpgid\b")
#: What Open MPI notes of its insides. What comes later, its explanation or the program's own error, says more.
_INSIDE = re.compile(r"\b(?:OPAL|ORTE|OMPI|PMIX|PRTE) ERROR: ")
#: Where Open MPI explains in a sentence of several lines, and how many these are at most.
_EXPLAINED = re.compile(r"\s*The application appears to have been direct launched using ")
_SENTENCE_LINES = 4
#: The steps of an error stack of MPICH.
_STACK = re.compile(r"[\w.]+\(\d*\)\.*: \S")
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Warning)\b(?::|$)")
_OTHER_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*: ")


def error_lines(lines: Sequence[str], most: int) -> list[str]:
    """The first line that tells of an error and what belongs to it, `most` lines at most; none where there is none.

    >>> error_lines(["step 1: error 1e-3", "Error: no such mesh", "step 2"], 3)
    ['Error: no such mesh']
    >>> error_lines(["Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: 3", "KeyError: 4"], 3)
    ['ValueError: 3']
    >>> error_lines(["[n1:7] OPAL ERROR: Unreachable in file client.c at line 112", "Error: no such mesh"], 3)
    ['Error: no such mesh']
    """
    inside: list[str] = []
    for at, line in enumerate(lines):
        if _TRACEBACK.search(line):
            return _exception(lines[at + 1 :]) or [line.strip()]
        if _EXPLAINED.match(line):
            return [_sentence(lines[at : at + _SENTENCE_LINES])]
        if _ERROR.search(line) and not _HARMLESS.search(line):
            if not _INSIDE.search(line):
                return _with_stack(lines[at:], most)
            inside = inside or _with_stack(lines[at:], most)
    return inside


def _sentence(lines: Sequence[str]) -> str:
    """The one that begins with the first line, in one line; the first line alone where it has no end."""
    text = " ".join(line.strip() for line in lines)
    end = text.find(". ")
    return text[: end + 1] if end >= 0 else lines[0].strip()


def _exception(lines: Sequence[str]) -> list[str]:
    """The line of the first exception: those of several ranks may stand between each other's."""
    outer = [line for line in lines if line[:1] not in ("", " ", "\t")]
    for shape in (_EXCEPTION, _OTHER_EXCEPTION):
        if exception := next((line for line in outer if shape.match(line)), ""):
            return [exception.strip()]
    return []


def _with_stack(lines: Sequence[str], most: int) -> list[str]:
    """The first line, and those right after it that tell more of the same error; none twice."""
    block = [lines[0].strip()]
    for line in map(str.strip, lines[1:]):
        if not _ERROR.search(line) and not _STACK.match(line):
            break
        if line not in block:
            block.append(line)
    return block[:most]
