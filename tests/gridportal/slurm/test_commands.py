"""The slurm: prefixes, time limits, and one sentence for everything that can go wrong."""

from __future__ import annotations

import pytest

from gridportal.base.errors import BackendError, RefusedError
from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from tests.gridportal.slurm.fakes import FakeSlurm

SETTINGS = ["env", "LC_ALL=C", "SLURM_TIME_FORMAT=%s"]


@pytest.mark.parametrize("prefix", [("ssh", "login"), ("sudo", "-n", "-u", "ann", "/usr/bin/ssh", "login")])
def test_ssh_gets_one_line_in_which_every_word_is_quoted(prefix: tuple[str, ...]) -> None:
    line = SlurmCommands(prefix).command_line(["sbatch", "--comment=a; rm -rf $HOME", "--chdir=/a b"])
    quoted = "env LC_ALL=C SLURM_TIME_FORMAT=%s sbatch '--comment=a; rm -rf $HOME' '--chdir=/a b'"
    assert line[-len(prefix) - 1 :] == [*prefix, quoted]


def test_behind_every_prefix_the_locale_is_c_and_times_are_seconds() -> None:
    line = SlurmCommands(("sudo", "-n", "-u", "ann")).command_line(["scancel", "7"])
    assert line[-9:] == ["sudo", "-n", "-u", "ann", *SETTINGS, "scancel", "7"]


def test_a_prefix_hands_none_of_the_portals_secrets_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_SECRET_KEY", "swordfish")
    said = SlurmCommands(("nice", "-n", "0")).ask(["env"])
    assert "LC_ALL=C" in said.splitlines()
    assert "swordfish" not in said


def test_what_sudo_refuses_is_told_as_sudos_word() -> None:
    slurm = SlurmCommands(
        ("sh", "-c", "echo 'sudo: unable to resolve host n1' >&2; echo 'sudo: a password is required' >&2; exit 1")
    )
    with pytest.raises(RefusedError, match=r"^sudo does not let the portal run sbatch .*: a password is required\.$"):
        slurm.ask(["sbatch"])


@pytest.mark.parametrize(
    ("ping", "sentence"),
    [
        ("echo 'scontrol: debug: Munge encode failed: Failed to access (retrying ...)' >&2; sleep 60", "start munged"),
        ("echo 'Slurmctld(primary) at c is DOWN'; exit 1", "slurmctld is down"),
        ("echo 'Slurmctld(primary) at c is UP'", "up but busy"),
        ("sleep 60", r"within 0\.2 s\.$"),
    ],
)
def test_a_ping_tells_why_slurm_is_silent(monkeypatch: pytest.MonkeyPatch, ping: str, sentence: str) -> None:
    monkeypatch.setattr("gridportal.slurm.silence.PATIENCE", 0.5)
    slurm = SlurmCommands(("sh", "-c", f'case "$*" in *ping*) {ping};; *) sleep 60;; esac', "x"), timeout=0.2)
    with pytest.raises(BackendError, match=sentence) as caught:
        slurm.ask(["squeue"])
    assert "\n" not in str(caught.value)


def test_commands_see_the_locale_c_and_nothing_of_the_portals_environment(
    slurm: FakeSlurm, backend: SlurmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIDPORTAL_SECRET_KEY", "swordfish")
    monkeypatch.setenv("SQUEUE_USERS", "nobody")
    backend.poll(["1", "2"])
    environ = slurm.calls("squeue")[0]["environ"]
    assert environ["LC_ALL"] == "C"
    assert environ["SLURM_TIME_FORMAT"] == "%s"
    assert not {"GRIDPORTAL_SECRET_KEY", "SQUEUE_USERS"} & environ.keys()


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("garbage", "squeue gave an answer that is no list of jobs: '<html>"),
        ("slow", "squeue gave no answer within 0.5 s"),
        ("down", "squeue failed: Slurm's controller does not answer; see whether slurmctld runs (Unable to contact"),
        ("munge", "squeue failed: Slurm's authentication does not work"),
    ],
)
def test_each_fault_is_one_sentence_that_names_the_command(slurm: FakeSlurm, mode: str, sentence: str) -> None:
    slurm.set(mode=mode)
    with pytest.raises(BackendError) as caught:
        SlurmBackend(SlurmCommands(timeout=0.5 if mode == "slow" else 10)).poll(["1", "2"])
    said = str(caught.value)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert said.isprintable()


def test_a_missing_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackendError, match=r"^no-such-slurm is not installed or not on PATH\.$"):
        SlurmCommands().ask(["no-such-slurm"])
    with pytest.raises(BackendError, match=r"^squeue \(through no-such-sudo\) is not installed"):
        SlurmCommands(("no-such-sudo",)).ask(["squeue"])


def test_a_refusal_is_told_from_a_fault(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    with pytest.raises(RefusedError, match=r"scontrol refused with exit code 1: Access/permission denied for job 1\."):
        backend.queue.release("1")
    slurm.set(mode="down")
    with pytest.raises(BackendError) as caught:
        backend.queue.release("1")
    assert not isinstance(caught.value, RefusedError)


def test_a_login_node_that_cannot_be_reached_is_no_refusal() -> None:
    slurm = SlurmCommands(("bash", "-c", "echo ssh: connect to host login: No route to host >&2; exit 255"))
    with pytest.raises(BackendError, match="could not be reached: ssh: connect to host login") as caught:
        slurm.ask(["squeue"])
    assert not isinstance(caught.value, RefusedError)
