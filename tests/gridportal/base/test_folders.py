"""The portal's home is for its user alone: what is open is closed, and said; what is somebody else's is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gridportal.base import folders
from gridportal.base.errors import InputError
from gridportal.base.portal_settings import PortalSettings
from gridportal.testbed.state import State
from tests import migrated
from tests.gridportal.serve.demo.demo_process import environment

SECRETS = ("secret_key", "demo_password", "serve.env", "gridportal.sqlite3", "gridportal.sqlite3-wal")
SOMEBODY = 54321


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    made.chmod(0o755)
    return made


@pytest.fixture
def as_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is ours in the test's folders is somebody else's to the portal, but for root."""
    monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)


def test_a_new_home_is_for_its_owner_alone(tmp_path: Path, caplog) -> None:
    assert mode(folders.home(tmp_path / "new")) == 0o700
    assert not caplog.messages


@pytest.mark.parametrize(("open_mode", "closed"), [(0o755, 0o700), (0o777, 0o700), (0o750, 0o700), (0o722, 0o700)])
def test_a_home_that_others_can_look_into_is_closed_and_it_is_said(home: Path, caplog, open_mode, closed) -> None:
    home.chmod(open_mode)
    folders.home(home)
    assert mode(home) == closed
    assert f"{home} (mode {open_mode:o})" in caplog.messages[0]
    caplog.clear()
    folders.home(home)
    assert not caplog.messages, "once is enough"


@pytest.mark.parametrize("passing", [0o700, 0o710, 0o711])
def test_others_may_be_let_pass_and_what_is_secret_is_closed_all_the_same(home: Path, passing: int) -> None:
    home.chmod(passing)
    for name in SECRETS:
        (home / name).write_text("x")
        (home / name).chmod(0o644)
    for name in ("log", "grid", "runs"):
        (home / name).mkdir()
        (home / name).chmod(0o755)
    folders.home(home)
    assert mode(home) == passing
    assert {mode(home / name) for name in SECRETS} == {0o600}
    assert [mode(home / name) for name in ("log", "grid", "runs")] == [0o700, 0o700, 0o711]


def test_that_others_could_read_the_key_is_said_with_what_to_do(home: Path, caplog) -> None:
    (home / "secret_key").write_text("x")
    (home / "secret_key").chmod(0o644)
    folders.home(home)
    assert f"Others could read secret_key in {home} until now." in caplog.messages
    assert "remove it for a new one" in caplog.messages[-1]


def test_a_home_of_somebody_else_is_refused(home: Path, monkeypatch, as_somebody) -> None:
    if home.stat().st_uid == 0:
        os.chown(home, 65534, -1)
    with pytest.raises(InputError, match=r"a folder of your own: this one is .*'s, so work as"):
        folders.home(home)
    assert mode(home) == 0o755, "what is not ours stays as it is"


def test_a_link_that_somebody_else_made_is_refused(tmp_path: Path, home: Path, monkeypatch) -> None:
    (tmp_path / "link").symlink_to(home)
    if os.geteuid() == 0:
        os.lchown(tmp_path / "link", SOMEBODY, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    monkeypatch.setenv("GRIDPORTAL_HOME", str(tmp_path / "link"))
    with pytest.raises(InputError, match=r"GRIDPORTAL_HOME is .*a folder without links that others made"):
        PortalSettings()
    with pytest.raises(InputError, match="state_dir is"):
        State(tmp_path / "link").prepare()


def test_a_link_of_our_own_leads_to_the_home(tmp_path: Path, home: Path, monkeypatch) -> None:
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("GRIDPORTAL_HOME", str(tmp_path / "link"))
    assert PortalSettings().make_home() == home
    assert mode(home) == 0o700


def test_a_home_that_anybody_can_replace_is_refused_and_under_a_sticky_folder_it_is_not(tmp_path: Path) -> None:
    everybodys = tmp_path / "everybodys"
    everybodys.mkdir()
    everybodys.chmod(0o777)
    with pytest.raises(InputError, match=f"chmod o-w {everybodys}"):
        folders.home(everybodys / "a" / "home")
    everybodys.chmod(0o1777)
    assert mode(folders.home(everybodys / "a" / "home")) == 0o700


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_key_that_is_no_plain_file_is_refused(home: Path, kind: str) -> None:
    path = home / "secret_key"
    {"link": lambda: path.symlink_to("/etc/hostname"), "pipe": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    with pytest.raises(InputError, match="a folder in which secret_key is a plain file of your own: remove this one"):
        folders.home(home)


def test_a_file_system_that_keeps_no_modes_is_refused(home: Path, monkeypatch) -> None:
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    with pytest.raises(InputError, match="a file system that keeps modes"):
        folders.home(home)


GRID = "from gridportal.testbed.state import State, default_directory as home; State(home()).prepare()"
PORTAL = (
    "import os, pathlib; from gridportal.base import home; home.only_one(pathlib.Path(os.environ['H'])).__enter__()"
)


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "gridportal", "prepare"],
        ["manage.py", "check"],
        ["-m", "gridportal", "person", "list"],
        ["-c", GRID],
        ["-c", PORTAL],
    ],
    ids=["prepare", "manage.py", "person", "testbed", "demo and serve"],
)
def test_every_entrance_closes_the_home_and_says_so(home: Path, words: list[str]) -> None:
    if words[-1] == "prepare":
        migrated.put_into(home)
        migrated.put_static_files_into(home)
    argv = [sys.executable, *words]
    done = subprocess.run(argv, env=environment(home, H=str(home)), capture_output=True, text=True, timeout=120)
    assert mode(home) == 0o700
    assert f"Others could look into {home} (mode 755)" in done.stderr


def test_the_database_is_made_closed_where_others_may_pass(home: Path) -> None:
    migrated.put_static_files_into(home)
    home.chmod(0o711)
    argv = [sys.executable, "-m", "gridportal", "prepare"]
    subprocess.run(argv, env=environment(home), capture_output=True, check=True, timeout=120)
    assert mode(home / "gridportal.sqlite3") == 0o600
    assert mode(home) == 0o711


def test_folders_on_the_way_are_for_their_owner_alone_too(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        folders.make(tmp_path / "local" / "here" / "runs")
        folders.make(tmp_path / "local" / "here" / "runs")
    finally:
        os.umask(before)
    made = [tmp_path / part for part in ("local", "local/here", "local/here/runs")]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        folders.make(tmp_path / "file")
