"""The door: prefixes, time limits, and one sentence for everything that can go wrong."""

from __future__ import annotations

import pytest

from gridportal.errors import BackendError
from scheduling.adapters.slurm.backend import SlurmBackend
from scheduling.adapters.slurm.commands import Door, RefusedError
from tests.scheduling.adapters.slurm.fakes import FakeSlurm


def test_ssh_gets_one_line_in_which_every_word_is_quoted() -> None:
    line = Door(("ssh", "login")).command_line(["sbatch", "--comment=a; rm -rf $HOME", "--chdir=/a b"])
    assert line[:2] == ["ssh", "login"]
    assert line[2:] == ["env LC_ALL=C SLURM_TIME_FORMAT=%s sbatch '--comment=a; rm -rf $HOME' '--chdir=/a b'"]


def test_sudo_gets_the_command_itself_so_that_a_rule_can_name_it() -> None:
    line = Door(("sudo", "-n", "-u", "ann")).command_line(["scancel", "7"])
    assert line == ["sudo", "-n", "-u", "ann", "scancel", "7"]


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
        ("slow", "squeue gave no answer within 0.5 s."),
        ("down", "squeue failed: Slurm's controller does not answer; see whether slurmctld runs (Unable to contact"),
        ("munge", "squeue failed: Slurm's authentication does not work"),
    ],
)
def test_each_fault_is_one_sentence_that_names_the_command(slurm: FakeSlurm, mode: str, sentence: str) -> None:
    slurm.set(mode=mode)
    with pytest.raises(BackendError) as caught:
        SlurmBackend(Door(timeout=0.5 if mode == "slow" else 10)).poll(["1", "2"])
    said = str(caught.value)
    assert said.startswith(sentence)
    assert "\n" not in said
    assert said.isprintable()


def test_a_missing_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackendError, match=r"^no-such-slurm is not installed or not on PATH\.$"):
        Door().ask(["no-such-slurm"])
    with pytest.raises(BackendError, match=r"^squeue \(through no-such-sudo\) is not installed"):
        Door(("no-such-sudo",)).ask(["squeue"])


def test_a_refusal_is_told_from_a_fault(slurm: FakeSlurm, backend: SlurmBackend) -> None:
    with pytest.raises(RefusedError, match=r"scontrol refused with exit code 1: Access/permission denied for job 1\."):
        backend.release("1")
    slurm.set(mode="down")
    with pytest.raises(BackendError) as caught:
        backend.release("1")
    assert not isinstance(caught.value, RefusedError)


def test_a_login_node_that_cannot_be_reached_is_no_refusal() -> None:
    door = Door(("bash", "-c", "echo ssh: connect to host login: No route to host >&2; exit 255"))
    with pytest.raises(BackendError, match="could not be reached: ssh: connect to host login") as caught:
        door.ask(["squeue"])
    assert not isinstance(caught.value, RefusedError)
