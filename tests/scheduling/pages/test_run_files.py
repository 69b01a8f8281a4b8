"""The files of a run on its page and over REST: shown, downloaded in parts, and never one from outside."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
from pathlib import Path
from urllib.parse import quote

import pytest

from gridportal.base.run_archive import archive_of, expected_size
from gridportal.base.run_listing import folder_use
from scheduling.pages.file_preview import preview_of
from tests.markup import markup

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def run(people, make_job):
    return make_job(people["user"], "succeeded").runs.get()


@pytest.fixture
def folder(run):
    made = Path(run.run_dir)
    made.mkdir(parents=True, exist_ok=True)
    (made / "out").mkdir()
    (made / "out" / "figures.csv").write_text("n,seconds\n1,2.5\n2,<i>1.25</i>\n")
    (made / "a.png").write_bytes(PNG)
    (made / "evil.svg").write_text("<svg><script>alert(1)</script></svg>")
    (made / "bytes").write_bytes(bytes(range(256)) * 4)
    yield made
    if made.is_symlink():
        made.unlink()


def address(run, path="", what="files/"):
    return f"/jobs/{run.job_id}/runs/1/{what}?path={quote(path)}"


def body(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def test_the_folder_is_listed_with_its_size(client_as, run, folder):
    (folder / "<b>bold\n").write_text("")
    page = markup(client_as("user").get(address(run)))
    assert "figures.csv" not in page
    assert "&lt;b&gt;bold�" in page
    assert "<b>bold" not in page
    assert "are free on that disk" in page
    assert "figures.csv" in markup(client_as("operator").get(address(run, "out")))


def test_text_tables_and_pictures_are_shown(client_as, run, folder):
    client = client_as("user")
    table = markup(client.get(address(run, "out/figures.csv") + "&view=file"))
    assert "<td>&lt;i&gt;1.25&lt;/i&gt;</td>" in table
    assert "inline=1" in markup(client.get(address(run, "a.png") + "&view=file"))
    assert "&lt;script&gt;" in markup(client.get(address(run, "evil.svg") + "&view=file"))
    assert "This is no text, table or picture" in markup(client.get(address(run, "bytes") + "&view=file"))


def test_only_pictures_are_answered_to_be_shown(client_as, run, folder):
    client = client_as("user")
    picture = client.get(address(run, "a.png", "file") + "&inline=1")
    assert (picture["Content-Type"], body(picture)) == ("image/png", PNG)
    evil = client.get(address(run, "evil.svg", "file") + "&inline=1")
    assert evil["Content-Type"] == "application/octet-stream"
    assert evil["Content-Disposition"].startswith("attachment")
    assert evil["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("asked", "status", "first", "count"),
    [("", 200, 0, 1024), ("bytes=0-9", 206, 0, 10), ("bytes=1000-", 206, 1000, 24), ("bytes=-4", 206, 1020, 4)],
)
def test_a_part_of_a_file_is_answered(client_as, run, folder, asked, status, first, count):
    headers = {"Range": asked} if asked else {}
    answer = client_as("user").get(address(run, "bytes", "file"), headers=headers)
    whole = bytes(range(256)) * 4
    assert (answer.status_code, body(answer)) == (status, whole[first : first + count])
    assert answer["Content-Length"] == str(count)
    if status == 206:
        assert answer["Content-Range"] == f"bytes {first}-{first + count - 1}/1024"


def test_a_part_behind_the_end_is_refused(client_as, run, folder):
    answer = client_as("user").get(address(run, "bytes", "file"), headers={"Range": "bytes=1024-"})
    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */1024")


@pytest.mark.parametrize("kind", ["link", "folder link", "hard link", "pipe", "up", "absolute", "replaced"])
def test_nothing_outside_is_read(client_as, run, folder, tmp_path, kind):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("TOP-SECRET")
    path = "x"
    if kind == "link":
        (folder / "x").symlink_to(secret / "key")
    elif kind == "folder link":
        (folder / "d").symlink_to(secret)
        path = "d/key"
    elif kind == "hard link":
        (folder / "x").hardlink_to(secret / "key")
    elif kind == "pipe":
        os.mkfifo(folder / "x")
    elif kind == "up":
        path = "out/../../" + os.path.relpath(secret / "key", folder.parent)
    elif kind == "absolute":
        path = str(secret / "key")
    else:
        folder.rename(folder.with_name("moved"))
        folder.symlink_to(secret)
        path = "key"
    client = client_as("user")
    for where in (
        address(run, path, "file"),
        address(run, path) + "&view=file",
        f"/api/jobs/{run.job_id}/runs/1/file?path={quote(path)}",
        f"/api/jobs/{run.job_id}/runs/1/files?path={quote(path)}",
    ):
        answer = client.get(where)
        assert answer.status_code == 404, where
        assert b"TOP-SECRET" not in body(answer)


def test_the_key_of_the_depots_is_nobodys_to_read(client_as, run, folder):
    (folder / "depots.json").write_text("KEY")
    client = client_as("administrator")
    assert client.get(address(run, "depots.json", "file")).status_code == 404
    assert b"depots.json" not in client.get(address(run)).content


@pytest.mark.parametrize(("role", "status"), [("other", 404), ("manager", 403), ("operator", 200), ("user", 200)])
def test_its_owner_and_operators_read_them(client_as, run, folder, role, status):
    client = client_as(role)
    assert client.get(address(run)).status_code == status
    assert client.get(address(run, "bytes", "file")).status_code == status
    assert client.get(address(run, what="archive")).status_code == status
    assert client.get(f"/api/jobs/{run.job_id}/runs/1/files").status_code == status
    page = client.get(f"/jobs/{run.job_id}/")
    assert (b"to-files-1" in page.content) == (status == 200)


def archived(answer) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(body(answer))) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}


def test_the_folder_is_downloaded_as_one_archive(client_as, run, folder):
    (folder / "depots.json").write_text("KEY")
    (folder / "empty").write_text("")
    client, where = client_as("user"), f"job-{run.job_id}-run-1"
    for address_of in (f"/jobs/{run.job_id}/runs/1/archive", f"/api/jobs/{run.job_id}/runs/1/archive"):
        answer = client.get(address_of)
        whole = body(answer)
        assert answer["Content-Length"] == str(len(whole))
        with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
            names = {each.name for each in tar}
            assert tar.extractfile(f"{where}/bytes").read() == bytes(range(256)) * 4
        assert names >= {f"{where}/out/figures.csv", f"{where}/a.png", f"{where}/empty"}
        assert f"{where}/depots.json" not in names
    held = archived(client.get(address(run, "out", "archive")))
    assert [*held] == [f"{where}/out/figures.csv", f"{where}/NOT-WHOLE.txt"]
    assert held[f"{where}/NOT-WHOLE.txt"].strip() == b"All files are whole."
    assert "/archive" in markup(client.get(address(run)))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nope", "nope is not there (any more)."),
        ("out/nope/x", "out/nope/x is not there (any more)."),
        ("n" * 300, "n is not there (any more)."),
        ("a.png", "a.png is a file, not a folder: ask for it with /file"),
        ("a.png/x", "a.png/x cannot be read, for its folder is a link or no directory."),
        ("..", ".. is no path below the run's folder."),
        ("d/" * 65 + "d", "is a path with more than 64 folders or 4,000 letters."),
        ("depots.json", "depots.json is a key of the run, which nobody may read."),
        ("link", "link is a link, and links are not followed."),
        ("pipe", "pipe is a pipe, socket or device, not a plain file."),
    ],
)
def test_it_is_said_why_there_is_no_such_folder(client_as, run, folder, path, sentence):
    (folder / "link").symlink_to(folder / "out")
    os.mkfifo(folder / "pipe")
    client = client_as("user")
    page = client.get(address(run, path, "archive"))
    assert (page.status_code, sentence in page.content.decode()) == (404, True), page.content
    rest = client.get(f"/api/jobs/{run.job_id}/runs/1/archive?path={quote(path)}")
    assert (rest.status_code, sentence in rest.json()["detail"]) == (404, True)


def test_the_log_of_a_folder_that_is_gone_is_not_found(client_as, run, folder):
    shutil.rmtree(folder)
    client, sentence = client_as("user"), "output.log cannot be read, for the run directory is gone or was replaced."
    for where in (f"/jobs/{run.job_id}/log", f"/jobs/{run.job_id}/runs/1/log"):
        page = client.get(where)
        assert (page.status_code, page.content.decode()) == (404, f"{sentence}\n")
    for where in (f"/api/jobs/{run.job_id}/log", f"/api/jobs/{run.job_id}/runs/1/log"):
        rest = client.get(where)
        assert (rest.status_code, rest.json()) == (404, {"detail": sentence})
    assert client.get(f"/jobs/{run.job_id}/").status_code == 200


def test_nothing_outside_is_in_the_archive(client_as, run, folder, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("TOP-SECRET")
    (folder / "link").symlink_to(secret / "key")
    (folder / "below").symlink_to(secret)
    (folder / "second").hardlink_to(secret / "key")
    os.mkfifo(folder / "pipe")
    client, where = client_as("user"), f"job-{run.job_id}-run-1"
    answer = client.get(address(run, what="archive"))
    held = archived(answer)
    assert f"{where}/bytes" in held
    note = held[f"{where}/NOT-WHOLE.txt"].decode().split("\n")
    assert note[:5] == [
        "All files are whole.",
        "LEFT OUT: below: a link, and links are not followed",
        "LEFT OUT: link: a link, and links are not followed",
        "LEFT OUT: pipe: a pipe, socket or device, not a plain file",
        "LEFT OUT: second: has a second name (a hard link), so that it may be anybody's file",
    ]
    assert not any(note[5:])
    assert not {f"{where}/{name}" for name in ("link", "below/key", "second", "pipe")} & set(held)
    for path in ("below", "..", "out/../..", "link"):
        assert client.get(address(run, path, "archive")).status_code == 404
        assert client.get(f"/api/jobs/{run.job_id}/runs/1/archive?path={quote(path)}").status_code == 404


def unpacked(archive) -> dict[str, bytes]:
    whole = b"".join(archive.pieces())
    assert len(whole) == archive.size
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        return {each.name: tar.extractfile(each).read() for each in tar}


def test_what_is_missing_of_a_file_is_zeros_and_said_at_the_end(run, folder):
    large = (1 << 18) + 5
    (folder / "large").write_bytes(bytes(large))
    archive = archive_of(folder, "", "x")
    (folder / "bytes").write_bytes(b"short")
    (folder / "a.png").rename(folder / "b.png")
    (folder / "large").unlink()
    (folder / "large").symlink_to(folder / "bytes")
    held = unpacked(archive)
    assert held["x/bytes"] == b"short" + bytes(1019)
    assert (held["x/a.png"], held["x/large"]) == (bytes(len(PNG)), bytes(large))
    assert held["x/out/figures.csv"].startswith(b"n,seconds")
    assert [*held][-1] == "x/NOT-WHOLE.txt"
    assert held["x/NOT-WHOLE.txt"].decode().strip().split("\n") == [
        "These files are not whole: zeros stand for what is missing.",
        "NOT WHOLE: a.png: 0 of 28 bytes; it went away while the archive was sent",
        "NOT WHOLE: bytes: 5 of 1,024 bytes; it got shorter while the archive was sent",
        "NOT WHOLE: large: 0 of 262,149 bytes; is a link, and links are not followed",
    ]


def test_a_folder_that_goes_while_its_archive_is_sent_leaves_it_whole(run, folder):
    archive = archive_of(folder, "", "x")
    shutil.rmtree(folder)
    held = unpacked(archive)
    assert held["x/bytes"] == bytes(1024)
    assert b"NOT WHOLE: bytes: 0 of 1,024 bytes; cannot be read, for the run dir" in held["x/NOT-WHOLE.txt"]


def test_the_last_file_has_a_name_of_its_own_and_is_cut_to_its_room(run, folder):
    (folder / "NOT-WHOLE.txt").write_text("mine")
    for number in range(500):
        (folder / f"link-{number}").symlink_to("x")
    held = unpacked(archive_of(folder, "", "x"))
    note = held["x/_NOT-WHOLE.txt"].decode()
    assert (held["x/NOT-WHOLE.txt"], len(note)) == (b"mine", 8192)
    lines = note.strip().split("\n")
    assert lines[-1] == f"And {500 - len(lines) + 2} more."


def test_folders_below_many_others_are_named(run, folder):
    deep = "/".join(["d"] * 66)
    (folder / deep).mkdir(parents=True)
    held = unpacked(archive_of(folder, "", "x"))
    assert f"LEFT OUT: {deep}: lies too deep, below more folders than are read" in held["x/NOT-WHOLE.txt"].decode()


def test_a_name_that_is_no_text_is_in_the_archive_and_said_in_the_list(client_as, run, folder):
    (folder / os.fsdecode(b"bad\xff.bin")).write_bytes(b"there")
    page = markup(client_as("user").get(address(run)))
    assert "its name is no UTF-8; it comes with the whole folder" in page
    assert b"there" in unpacked(archive_of(folder, "", "x")).values()
    listed = client_as("user").get(f"/api/jobs/{run.job_id}/runs/1/files").json()["entries"]
    assert [each["name"] for each in listed if not each["name_is_text"]] == ["bad?.bin"]


@pytest.mark.parametrize(("count", "length"), [(0, 1), (3, 1), (40, 90), (40, 200), (300, 20)])
def test_the_size_that_is_told_of_an_archive_is_nearly_its_size(run, folder, count, length):
    for number in range(count):
        (folder / f"{number:03}{'n' * length}").write_bytes(bytes(number))
    real, expected = archive_of(folder, "", f"job-{run.job_id}-run-1").size, expected_size(folder_use(folder))
    assert abs(expected - real) <= 0.1 * real


def test_a_file_that_grows_keeps_the_size_that_was_told(run, folder):
    archive = archive_of(folder, "", "x")
    (folder / "bytes").write_bytes(bytes(5000))
    assert len(b"".join(archive.pieces())) == archive.size


def test_a_folder_with_too_many_files_is_refused(client_as, run, folder, monkeypatch):
    monkeypatch.setattr("gridportal.base.run_archive.MOST_COUNTED", 1)
    answer = client_as("user").get(address(run, what="archive"))
    assert answer.status_code == 400
    assert "accepted is a folder with at most 1 files; download the folders in it one by one" in answer.content.decode()


def test_rest_lists_and_answers_files(client_as, run, folder):
    client, where = client_as("user"), f"/api/jobs/{run.job_id}/runs/1"
    listed = client.get(f"{where}/files?path=out").json()
    assert [(entry["name"], entry["kind"], entry["size"]) for entry in listed["entries"]] == [
        ("figures.csv", "file", 30)
    ]
    assert body(client.get(f"{where}/file?path=out/figures.csv")).startswith(b"n,seconds")


def test_a_letter_that_is_cut_in_two_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("scheduling.pages.file_preview.MOST_BYTES", 4)
    text = tmp_path / "text"
    text.write_text("abcé")
    with text.open("rb") as file:
        preview = preview_of(file, "text", 5)
    assert (preview.text, preview.cut) == ("abc", True)
