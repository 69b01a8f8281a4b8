"""The one way to Slurm's commands: argument lists behind a prefix, a time limit always, errors in one sentence."""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError, LaterError, RefusedError, ShellError
from gridportal.slurm import silence
from gridportal.slurm.translation import fault, later

#: Plain output in C, times as Unix seconds: what the parsers read best. They cope without either.
_SETTINGS = {"LC_ALL": "C", "SLURM_TIME_FORMAT": "%s"}
#: All that Slurm's commands (and, through sbatch, jobs) may see of the portal's own environment: no secrets,
#: and none of the SQUEUE_*, SBATCH_* and SLURM_* variables that would change their answers.
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "SLURM_CONF")
#: What ssh needs besides, for its keys; it hands nothing on.
_FOR_SSH = ("SSH_AUTH_SOCK",)
#: A sentence of sudo's own that says nothing of why.
_SUDO_BESIDES = ("unable to resolve host", "error initializing audit plugin")


@dataclass(frozen=True, slots=True)
class SlurmCommands:
    """How Slurm's commands are reached: here, by `("ssh", "login")`, or as somebody by `("sudo", "-n", "-u", "ann")`.

    Behind a prefix each is `env LC_ALL=C SLURM_TIME_FORMAT=%s COMMAND`, for neither sudo nor ssh hands variables on.
    `conf` is a path of slurm.conf, where it is not the cluster's default.
    """

    prefix: tuple[str, ...] = ()
    timeout: float = 20.0
    conf: str = ""

    def run(self, argv: Sequence[str], *, stdin: str | None = None, timeout: float | None = None) -> shell.Completed:
        """Run one command whatever its exit code. Raises BackendError when it is missing or too slow."""
        limit = self.timeout if timeout is None else timeout
        whole = self.command_line(argv)
        try:
            done = shell.run(whole, timeout=limit, check=False, stdin=stdin, env=self.environment(), bare=True)
        except shell.TooSlowError as error:
            why = f": {silent}" if (silent := self.silence()) else "."
            raise BackendError(f"{self.called(argv)} gave no answer within {limit:g} s{why}") from error
        except ShellError as error:
            message = str(error).removeprefix(whole[0])
            raise BackendError(f"{self.called(argv)}{message}") from error
        if done.returncode == 127:
            raise BackendError(f"{self.called(argv)} is not installed or not on PATH.")
        return done

    def silence(self) -> str:
        """Why Slurm does not answer, asked with a short limit of its own: the end of a sentence, or ""."""
        try:
            whole, env = self.command_line(silence.PING), self.environment()
            done = shell.run(whole, timeout=silence.PATIENCE, check=False, env=env, bare=True)
            output = done.stdout + done.stderr
        except shell.TooSlowError as error:
            output = error.output
        except ShellError:
            return ""
        return silence.why(output, self.where())

    def ask(self, argv: Sequence[str], *, stdin: str | None = None, timeout: float | None = None) -> str:
        """The standard output of a command. Raises BackendError, RefusedError when Slurm itself said no."""
        done = self.run(argv, stdin=stdin, timeout=timeout)
        if done.returncode != 0:
            raise self.failure(argv, done)
        return done.stdout

    def failure(self, argv: Sequence[str], done: shell.Completed) -> BackendError:
        """The one sentence for a command that failed."""
        message = last_message(done.stderr or done.stdout)
        if not_let := _message_of_sudo(done.stderr):
            return RefusedError(f"sudo does not let the portal run {self.called(argv)}: {not_let}.")
        if self.prefix and done.returncode == 255:
            return BackendError(f"{self.called(argv)} could not be reached: {message}")
        if silence.munge_is_down(done.stderr):
            return BackendError(f"{self.called(argv)} failed: {silence.why(done.stderr, self.where())}")
        why = fault(done.stderr)
        if why:
            return BackendError(f"{self.called(argv)} failed: {why} ({message})")
        if argv[0] == "sbatch" and (why := later(done.stderr)):
            return LaterError(f"{self.called(argv)} does not take the job yet: {why}.")
        if not done.stderr.strip() and not done.stdout.strip():
            return RefusedError(f"{self.called(argv)} failed with exit code {done.returncode} and gave no reason.")
        return RefusedError(f"{self.called(argv)} refused with exit code {done.returncode}: {message}")

    def called(self, argv: Sequence[str]) -> str:
        """The command's name for messages."""
        return f"{argv[0]} (through {' '.join(self.prefix)})" if self.prefix else argv[0]

    def where(self) -> str:
        """The machine on which the commands run, for messages."""
        local = not self.prefix or os.path.basename(self.prefix[0]) in ("sudo", "runuser", "setpriv")
        return socket.gethostname() if local and not self._by_ssh() else f"the machine behind {' '.join(self.prefix)}"

    def command_line(self, argv: Sequence[str]) -> list[str]:
        """The whole argument list.

        >>> SlurmCommands(("ssh", "login"), conf="/s.conf").command_line(["scancel", "--name=a b"])[-3:]
        ['ssh', 'login', "env LC_ALL=C SLURM_TIME_FORMAT=%s SLURM_CONF=/s.conf scancel '--name=a b'"]
        """
        if not self.prefix:
            return list(argv)
        argv_there = ["env", *(f"{name}={value}" for name, value in self._settings().items()), *argv]
        # ssh hands one line to a shell on the other side, so every word is quoted for it.
        return [*self.prefix, *([shlex.join(argv_there)] if self._by_ssh() else argv_there)]

    def environment(self) -> dict[str, str]:
        """All that the command sees: of the portal's own environment what is named here, and no more.

        Set here rather than by `env -i`, which would cost as much as a quarter of an sbatch.
        """
        names = (*_KEPT, *_FOR_SSH) if self._by_ssh() else _KEPT
        kept = {name: os.environ[name] for name in names if name in os.environ}
        return kept if self.prefix else kept | self._settings()

    def _settings(self) -> dict[str, str]:
        return _SETTINGS | ({"SLURM_CONF": self.conf} if self.conf else {})

    def _by_ssh(self) -> bool:
        return any(os.path.basename(word) == "ssh" for word in self.prefix)


def _message_of_sudo(stderr: str) -> str:
    """Why sudo itself refused, without its name; "" when it did not.

    >>> _message_of_sudo("sudo: unable to resolve host n1\\nsudo: a password is required\\n")
    'a password is required'
    """
    messages = [line.removeprefix("sudo: ").strip(" .") for line in stderr.splitlines() if line.startswith("sudo: ")]
    why = next((message for message in messages if not message.startswith(_SUDO_BESIDES)), "")
    return "".join(c if c.isprintable() else " " for c in why)[:300]


def last_message(text: str) -> str:
    """What a command complained of last, without its own name, as the end of a sentence.

    >>> last_message("sbatch: error: Batch job submission failed: Invalid qos specification")
    'Batch job submission failed: Invalid qos specification.'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "it said nothing."
    message = lines[-1]
    for mark in (": error: ", " error: ", ": fatal: "):
        if mark in message:
            message = message.split(mark, 1)[1]
            break
    return "".join(c if c.isprintable() else " " for c in message)[:300].rstrip(". ") + "."
