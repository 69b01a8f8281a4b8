"""The one door to Slurm's commands: argument lists behind a prefix, a time limit always, errors in one sentence."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from gridportal import shell
from gridportal.errors import BackendError, ShellError
from scheduling.adapters.slurm.words import fault

#: Plain output in C, times as Unix seconds: what the parsers read best. They cope without either.
_SETTINGS = ("LC_ALL=C", "SLURM_TIME_FORMAT=%s")
#: All that Slurm's commands (and, through sbatch, jobs) may see of the portal's own environment: no secrets,
#: and none of the SQUEUE_*, SBATCH_* and SLURM_* variables that would change their answers.
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "SLURM_CONF")


class RefusedError(BackendError):
    """Slurm was reached and said no; asking the same again will not help."""


@dataclass(frozen=True, slots=True)
class Door:
    """How Slurm's commands are reached: here, by `("ssh", "login")`, or as somebody by `("sudo", "-n", "-u", "ann")`.

    Behind sudo the command is not wrapped in env, so that a sudoers line can name sbatch and scancel alone; with
    `conf` (a path of slurm.conf, where it is not the cluster's default) it has to be.
    """

    prefix: tuple[str, ...] = ()
    timeout: float = 20.0
    conf: str = ""

    def run(self, argv: Sequence[str], *, stdin: str | None = None, timeout: float | None = None) -> shell.Completed:
        """Run one command whatever its exit code. Raises BackendError when it is missing or too slow."""
        limit = self.timeout if timeout is None else timeout
        whole = self.command_line(argv)
        try:
            done = shell.run(whole, timeout=limit, check=False, stdin=stdin)
        except ShellError as error:
            said = str(error).removeprefix(whole[0])
            raise BackendError(f"{self.called(argv)}{said}") from error
        if done.returncode == 127:
            raise BackendError(f"{self.called(argv)} is not installed or not on PATH.")
        return done

    def ask(self, argv: Sequence[str], *, stdin: str | None = None, timeout: float | None = None) -> str:
        """The standard output of a command. Raises BackendError, RefusedError when Slurm itself said no."""
        done = self.run(argv, stdin=stdin, timeout=timeout)
        if done.returncode != 0:
            raise self.failure(argv, done)
        return done.stdout

    def failure(self, argv: Sequence[str], done: shell.Completed) -> BackendError:
        """The one sentence for a command that failed."""
        said = last_words(done.stderr or done.stdout)
        why = fault(done.stderr)
        if why:
            return BackendError(f"{self.called(argv)} failed: {why} ({said})")
        if self.prefix and done.returncode == 255:
            return BackendError(f"{self.called(argv)} could not be reached: {said}")
        return RefusedError(f"{self.called(argv)} refused with exit code {done.returncode}: {said}")

    def called(self, argv: Sequence[str]) -> str:
        """The command's name for messages."""
        return f"{argv[0]} (through {' '.join(self.prefix)})" if self.prefix else argv[0]

    def command_line(self, argv: Sequence[str]) -> list[str]:
        """The whole argument list.

        >>> Door(("ssh", "login")).command_line(["scancel", "--name=a b"])
        ['ssh', 'login', "env LC_ALL=C SLURM_TIME_FORMAT=%s scancel '--name=a b'"]
        """
        settings = [*_SETTINGS, f"SLURM_CONF={self.conf}"] if self.conf else list(_SETTINGS)
        if not self.prefix:
            kept = [f"{name}={os.environ[name]}" for name in _KEPT if name in os.environ]
            return ["env", "-i", *kept, *settings, *argv]
        if os.path.basename(self.prefix[0]) == "ssh":
            # ssh hands one line to a shell on the other side, so every word is quoted for it.
            return [*self.prefix, shlex.join(["env", *settings, *argv])]
        return [*self.prefix, *(["env", *settings] if self.conf else []), *argv]


def last_words(text: str) -> str:
    """What a command complained of last, without its own name, as the end of a sentence.

    >>> last_words("sbatch: error: Batch job submission failed: Invalid qos specification")
    'Batch job submission failed: Invalid qos specification.'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "it said nothing."
    words = lines[-1]
    for mark in (": error: ", " error: ", ": fatal: "):
        if mark in words:
            words = words.split(mark, 1)[1]
            break
    return "".join(c if c.isprintable() else " " for c in words)[:300].rstrip(". ") + "."
