"""Commands end with one sentence, not with a traceback, when the machine or a setting is at fault."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db.utils import OperationalError

from gridportal import cli
from gridportal.base import folders
from gridportal.base.error_messages import sentence
from gridportal.base.errors import InputError
from gridportal.base.portal_settings import PortalSettings
from tests.gridportal.serve.demo.demo_process import environment


def said(home: Path | str, *words: str, **more: str) -> tuple[int, str]:
    """Exit code and standard error of a command."""
    argv = [sys.executable, "-m", "gridportal", *words]
    done = subprocess.run(argv, env=environment(Path(home), **more), capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "words", [("demo", "--once"), ("prepare",), ("health",), ("person", "list"), ("testbed", "up")], ids=" ".join
)
@pytest.mark.in_turn("place")
@pytest.mark.parametrize("place", ["a file", "/proc"])
def test_a_home_that_cannot_be_is_named(tmp_path: Path, place: str, words: tuple[str, ...]) -> None:
    home = Path("/proc/of-nobody")
    if place == "a file":
        home = tmp_path / "file"
        home.touch()
    code, words_said = said(home, *words)
    assert code == 2
    assert words_said.startswith(f"GRIDPORTAL_HOME is '{home}'; accepted is a folder that can be made and written to (")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("GRIDPORTAL_POLL_EVERY", "abc", "GRIDPORTAL_POLL_EVERY is 'abc'; accepted is a valid number."),
        ("GRIDPORTAL_POLL_EVERY", "inf", "GRIDPORTAL_POLL_EVERY is 'inf'; accepted is a finite number."),
        ("GRIDPORTAL_LOG_LEVEL", "loud", "GRIDPORTAL_LOG_LEVEL is 'loud'; accepted is one of DEBUG, INFO"),
        ("DATABASE_URL", "mysql://u:secret@x/y", "DATABASE_URL is 'mysql://...'; accepted is a URL that starts with"),
        ("DATABASE_URL", "postgresql://u:secret@x:port/y", "DATABASE_URL is 'postgresql://...'; accepted"),
        ("REDIS_URL", "foo://:secret@x", "REDIS_URL is 'foo://...'; accepted is a URL that starts with redis://"),
        ("REDIS_URL", "secret", "REDIS_URL is '...'; accepted is a URL that starts with redis://"),
    ],
)
def test_a_setting_that_cannot_be_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError) as refused:
        PortalSettings()
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("words", [("demo", "--once"), ("prepare",), ("settings",)], ids=" ".join)
def test_every_command_names_the_setting(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, words_said = said(tmp_path, *words, DATABASE_URL="mysql://u:secret@x/y")
    assert (code, words_said.split(";")[0]) == (2, "DATABASE_URL is 'mysql://...'")


@pytest.mark.parametrize("scheme", ["redis", "rediss", "redis+socket", "unix"])
def test_each_kind_of_redis_is_accepted(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("REDIS_URL", f"{scheme}:///run/r.sock")
    assert PortalSettings().redis_url.startswith(scheme)


def test_a_redis_that_does_not_answer_is_stop_sent_at_the_start(tmp_path: Path) -> None:
    code, words_said = said(tmp_path, "demo", "--once", REDIS_URL="redis://127.0.0.1:1")
    assert code == 1
    assert words_said.startswith("The Redis that REDIS_URL names does not answer: ")


def test_a_database_that_does_not_answer_is_told(tmp_path: Path) -> None:
    code, words_said = said(tmp_path, "prepare", DATABASE_URL="postgresql://u:secret@127.0.0.1:1/x")
    assert code == 1
    assert words_said.startswith("The database does not do its work: ")
    assert "secret" not in words_said


def test_a_full_disk_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "is_full", lambda _: True)
    from gridportal.base import home
    from gridportal.base.errors import GridPortalError

    with pytest.raises(GridPortalError, match="is full; make room"), home.only_one(tmp_path):
        pass
    assert sentence(OSError(28, "No space left on device", "/x/y")) == "/x/y: No space left on device."
    assert sentence(OperationalError("database or disk is full")) is not None


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(**_: object) -> int:
        raise KeyError("ours")

    monkeypatch.setattr(cli, "app", wrong)
    with pytest.raises(KeyError):
        cli.main()


def test_trouble_of_the_machine_is_one_sentence_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(**_: object) -> int:
        raise PermissionError(13, os.strerror(13), "/x/y")

    monkeypatch.setattr(cli, "app", refused)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "/x/y: Permission denied.\n"
