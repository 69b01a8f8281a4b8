"""Hostile jobs on real Grids, as root and in a user namespace: what each tries, it does not get."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from gridportal.base import run_directory, run_files
from gridportal.testbed import launch
from gridportal.testbed.client import Grid
from gridportal.testbed.sandbox import enter_node, node_launcher, uids
from gridportal.testbed.state import State
from tests.gridportal.testbed.conftest import House, ended, eventually, need_namespaces
from tests.gridportal.testbed.networks import few_nodes

pytestmark = pytest.mark.grid
CHECKOUT = Path(__file__).parents[3]


def test_the_status_says_how_far_jobs_are_kept_apart(house: House) -> None:
    told = house.grid.status()["isolation"]
    assert told["level"] == ("own-user" if house.mode != "user-namespaces" and os.geteuid() == 0 else "own-view"), told
    assert "cannot reach the portal's" in told["message"]
    assert ("127.0.0.1" in told["message"]) == (house.mode == "unshaped")


def test_no_secret_of_the_portal_can_be_read(house: House) -> None:
    state = State(house.grid.directory)
    files = [house.home / "secret_key", house.home / "db.sqlite3", state.agent_key, state.rules, state.record_file]
    assert all(file.exists() for file in files)
    house.refuses([f"read({str(file)!r})" for file in files])
    house.refuses([f"read('/proc/{pid}/root{file}')" for pid in (1, "self/task/1", "2/../1") for file in files[:2]])
    house.refuses(
        ["read('/proc/1/environ')", "read('/proc/1/mem')", "os.readlink('/proc/1/fd/0')", "os.listdir('/proc/1/root/')"]
    )


def test_no_socket_of_the_portal_can_be_reached(house: House) -> None:
    record = State(house.grid.directory).record()
    assert record
    agents = sorted((house.grid.directory / "agents").glob("*.sock"))
    assert agents
    house.refuses([f"connect({path!r})" for path in (record["socket"], str(agents[0]), "/run/dbus/system_bus_socket")])
    short = tempfile.mkdtemp(prefix="gp-")  # where a portal puts sockets whose paths were too long
    try:
        seen = house.run(
            f"ls -d {short} /tmp/gp-* /run/postgresql /run/user 2>/dev/null; find /run /tmp /dev/shm -type s"
        )
    finally:
        os.rmdir(short)
    assert seen == ["/run/gridportal/door"]


def test_other_peoples_runs_scratch_and_temporary_files_are_not_there(house: House) -> None:
    script = "echo secret | tee mine $GRIDPORTAL_SCRATCH/mine /tmp/mine /dev/shm/mine; touch ready; sleep 60"
    key, folder = house.start(script, owner="ann")
    eventually((folder / "ready").exists, "the neighbour")
    try:
        assert house.run("ls -A ..; ls -A $GRIDPORTAL_SCRATCH /tmp/mine /dev/shm 2>/dev/null") == [
            f"run-{int(key[4:]) + 1}",
            "/dev/shm:",
            "",
            f"{house.grid.directory}/scratch:",
        ]
        house.refuses([f"read({str(folder / 'mine')!r})", f"os.listdir({str(folder)!r})"])
    finally:
        house.grid.cancel(key)
        ended(house.grid, key)
    assert house.run("cat $GRIDPORTAL_SCRATCH/mine", owner="ann") == ["secret"]  # her own next run finds it


def test_a_neighbour_cannot_be_seen_signalled_or_traced(house: House) -> None:
    key, folder = house.start("touch ready; exec sleep 60", owner="ann")
    eventually((folder / "ready").exists, "the neighbour")
    seen = house.run("cat /proc/[0-9]*/comm | sort -u | tr '\\n' ' '; kill -9 -1 2>&1; echo alive")
    assert "sleep" not in seen[0]
    house.attempts(["os.kill(1, signal.SIGKILL)", "[os.kill(n, signal.SIGKILL) for n in range(3, 400)]"])
    house.refuses(["call('ptrace', 16, 1, 0, 0)", "call('ptrace', 0x4206, 1, 0, 0)"])
    assert house.grid.poll([key])[key]["state"] == "running"
    house.grid.cancel(key)
    ended(house.grid, key)


def test_there_are_no_rights_to_be_had(house: House) -> None:
    house.refuses(
        [
            "call('mount', b'none', b'/mnt', b'tmpfs', 0, None)",
            "call('umount2', b'/run', 2)",
            "call('mount', b'none', b'/', None, 32 | 4096, None)",
            "os.chroot('/tmp')",
            "call('unshare', 0x00020000)",
            "call('sethostname', b'other', 5)",
            "os.mknod('/tmp/disk', 0o60666, os.makedev(8, 0))",
            "os.setuid(12345)",
            "os.nice(-5)",
        ]
    )
    said = house.run("grep -E 'Cap|NoNewPrivs' /proc/self/status")
    assert {line.split()[1].strip("0") for line in said if "Cap" in line} == {""}, said
    assert "NoNewPrivs:\t1" in said


def test_a_setuid_program_gives_nothing(house: House) -> None:
    if shutil.which("sudo") is None and shutil.which("su") is None:
        pytest.skip("neither sudo nor su is here")
    said = house.run("id -u; sudo -n id -u 2>&1; su -c 'cat /etc/shadow' < /dev/null 2>&1; echo end")
    assert said[0] not in said[1:]
    assert not any(line.startswith("root:") for line in said)
    if house.mode == "root":
        assert said[0] != "0"
        assert "0" not in said


def test_a_namespace_of_its_own_shows_a_job_no_more(house: House) -> None:
    """Where the kernel lets anybody have one: what hides the home cannot be taken away in it."""
    inside = f"umount -l /run {house.home} /tmp; mount -t tmpfs none /mnt; cat {house.home}/secret_key"
    said = house.run(f"unshare --user --map-root-user --mount sh -c '{inside}' 2>&1; echo end")
    assert "hush" not in said


def test_nothing_outside_the_own_directories_can_be_written(house: House) -> None:
    prefix = next(iter(Path(sys.prefix).glob("lib/python*/site-packages")))
    folders = [CHECKOUT, CHECKOUT / "gridportal", prefix, Path("/etc"), Path("/usr/bin"), Path.home(), Path("/run")]
    house.refuses([f"open({str(folder / 'planted')!r}, 'w')" for folder in folders if folder.exists()])
    house.refuses(["open('/proc/sys/kernel/core_pattern', 'w')", "open('/sys/fs/cgroup/planted', 'w')"])
    assert (
        house.run("for f in . $GRIDPORTAL_SCRATCH /tmp /dev/shm /var/tmp; do touch $f/x && echo ok; done") == ["ok"] * 5
    )


def test_the_output_cannot_be_made_to_show_a_secret(house: House) -> None:
    secret = house.home / "secret_key"
    house.refuses([f"os.link({str(secret)!r}, 'output')", "os.link('/etc/passwd', 'passwd')"])
    key, folder = house.start(f"rm output.log; ln -s {secret} output.log; echo done > ready")
    ended(house.grid, key)
    with pytest.raises(run_directory.RunFileError):
        run_directory.read_part(folder, run_files.OUTPUT, 0, 1000)


def test_what_clears_its_environment_and_leaves_ends_with_the_run(house: House) -> None:
    name = f"left-behind-{house.mode}"
    leave = f"cp /bin/sleep ./{name}; env -i setsid ./{name} 600 > /dev/null 2>&1 < /dev/null & sleep 0.3"
    key, folder = house.start(f"{leave}; touch ready")
    ended(house.grid, key)
    assert (folder / "ready").exists()
    assert not running(name)


def test_what_clears_its_environment_is_cancelled_too(house: House) -> None:
    name = f"stays-{house.mode}"
    script = f"cp /bin/sleep ./{name}; env -i setsid ./{name} 600 & trap '' TERM; touch ready; sleep 600; sleep 600"
    key, folder = house.start(script)
    eventually((folder / "ready").exists, "the run")
    house.grid.cancel(key)
    state = ended(house.grid, key)
    assert state["reason"] == "cancelled"
    assert not running(name)


def running(name: str) -> list[int]:
    """The processes of this machine that were started from a file of that name."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if name.encode() in entry.read_bytes().split(b"\0")[0]:
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def test_limits_hold_for_files_cores_and_processes(house: House) -> None:
    assert house.run("ulimit -n; ulimit -c") == ["4096", "0"]
    isolation = house.grid.status()["isolation"]
    if isolation["level"] == "own-user" or not isolation["limits"]["processes"]:  # else the node's control group counts
        assert house.run("ulimit -u; ulimit -u 5000 2>/dev/null || echo refused") == ["4096", "refused"]


def test_a_run_reaches_its_own_nodes_and_no_others(house: House) -> None:
    said = house.run('for n in n2 n3; do $HYDRA_LAUNCHER_EXEC $n "hostname; id -u" 2>&1; done', nodes=("n1", "n2"))
    assert said[-1] == "n3 is not a node of this run."
    if house.mode != "unshaped":
        assert said[0] == "n2"
    assert (said[1] != "0") == (house.mode != "user-namespaces")


def test_ranks_of_one_run_share_the_temporary_files_of_a_node_and_see_each_other(house: House) -> None:
    script = 'touch /tmp/first; for n in n1 n2; do $HYDRA_LAUNCHER_EXEC $n "ls /tmp | grep -c first"; done; echo $$'
    assert house.run(script, nodes=("n1", "n2"))[:2] == ["1", "0"]


PYTHONS = f"{sys.executable} -I -S -E {Path(enter_node.__file__)}"  # the one for machines without a compiler


@pytest.mark.parametrize("launcher", ["$HYDRA_LAUNCHER_EXEC", PYTHONS], ids=["C", "Python"])
def test_the_launcher_hands_on_input_output_and_exit_codes(house: House, launcher: str) -> None:
    script = f"echo in | {launcher} -x n2 'cat; echo err >&2; exit 7' 2> err; echo $?; cat err\n"
    script += f"{launcher} n3 true 2>&1; echo $?; {launcher} 2>&1; echo $?; {launcher} n2 'kill -9 $$'; echo $?"
    usage = "usage: enter-node [options] HOST COMMAND..."
    expected = ["in", "7", "err", "n3 is not a node of this run.", "255", usage, "255", "137"]
    assert house.run(script, nodes=("n1", "n2")) == expected


def test_ranks_are_started_by_the_launcher_in_python_too(house: House) -> None:
    """What the way to a node was asked for is noted beside it: ranks are told mpiexec's own environment."""
    script = f'printf \'#!/bin/sh\\necho "$@" >> asked\\nexec {PYTHONS} "$@"\\n\' > way; chmod +x way\n'
    script += "HYDRA_LAUNCHER_EXEC=$PWD/way mpiexec -n 3 echo ran; grep -co 'n[23] ' asked"
    assert house.run(script, nodes=("n1", "n2", "n3")) == ["ran"] * 3 + ["2"]


def test_without_a_compiler_the_launcher_in_python_lies_at_the_door(tmp_path: Path) -> None:
    node_launcher.put(None, tmp_path)
    assert (tmp_path / "enter_node.py").read_text() == Path(enter_node.__file__).read_text()
    words = shlex.split((tmp_path / node_launcher.LAUNCHER).read_text().splitlines()[1])
    assert words == ["exec", sys.executable, "-I", "-S", "-E", "/run/gridportal/enter_node.py", "$@"]


def test_what_a_launcher_started_ends_with_it(house: House) -> None:
    script = "$HYDRA_LAUNCHER_EXEC n2 'echo begun; trap \"\" TERM; while :; do sleep 0.1; done' > out & L=$!\n"
    script += "until grep -q begun out; do sleep 0.1; done; kill -9 $L\n"
    script += "until ! grep -qs begun /proc/[0-9]*/cmdline; do sleep 0.1; done; echo over"
    assert house.run(script, nodes=("n1", "n2"))[-1] == "over"


def test_nonsense_at_the_door_harms_nobody(house: House) -> None:
    body = """
import os, socket
whole = b"\\0\\0\\0\\x10" + b"n2\\0true" + b"\\0" * 20
for text in (b"", b"\\xff" * 10, b"\\0\\0\\0\\x03n2\\0", whole, os.urandom(9000)):
    door = socket.socket(socket.AF_UNIX)
    door.connect("/run/gridportal/door")
    door.sendall(text)
    door.close()
many = [socket.socket(socket.AF_UNIX) for _ in range(600)]
for door in many:
    door.connect("/run/gridportal/door")
door = socket.socket(socket.AF_UNIX)
door.connect("/run/gridportal/door")
socket.send_fds(door, [b"\\0\\0\\0\\x02n2"], list(range(3)) * 3)
"""
    script = f"{sys.executable} - <<'END'\n{body}END\n$HYDRA_LAUNCHER_EXEC n2 'echo still here'"
    assert house.run(script, nodes=("n1", "n2"))[-1] == "still here"


DOOR = """
import array, fcntl, os, select, socket, struct, sys
def ask(node, stream):
    door = socket.socket(socket.AF_UNIX)
    door.connect("/run/gridportal/door")
    request = node.encode() + b"\\0true"
    socket.send_fds(door, [len(request).to_bytes(4, "big")], [0, stream, stream])
    door.sendall(request)
    return door
def fill(writing):
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
"""


def test_what_a_job_makes_the_first_process_say_is_written_with_the_jobs_rights(house: House) -> None:
    body = """
ours, theirs = socket.socketpair()
ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
door = ask("no-such-node", theirs.fileno())
text, found, _, _ = ours.recvmsg(4096, 4096)
pid, uid, gid = struct.unpack("3i", found[0][2])
print(text.decode().strip(), uid == os.getuid(), pid > 1, door.recv(64).decode())
"""
    said = house.run(f"exec {sys.executable} - <<'END'\n{DOOR}{body}END\n")
    assert said == ["no-such-node is not a node of this run. True True 255"]


@pytest.mark.parametrize("make", ["os.pipe()[1]", "os.mkfifo('fifo') or os.open('fifo', os.O_RDWR)"])
def test_nobody_waits_for_a_pipe_that_a_job_has_filled(house: House, make: str) -> None:
    body = f"stream = {make}\nfill(stream)\ndoors = [ask(f'no-such-node-{{n}}', stream) for n in range(20)]\n"
    body += "os.execvp('sh', ['sh', '-c', '$HYDRA_LAUNCHER_EXEC n2 \"echo still here\"'])\n"
    body = body.replace("os.pipe()[1]", "(pipe := os.pipe())[1]")  # its other end stays open
    said = house.run(f"exec {sys.executable} - <<'END'\n{DOOR}{body}END\n", nodes=("n1", "n2"))
    assert said == ["still here"]


def test_a_real_mpi_program_runs_on_all_its_nodes(house: House) -> None:
    code = "from mpi4py import MPI; c = MPI.COMM_WORLD; n = c.gather(MPI.Get_processor_name()); c.rank or print(len(n))"
    assert house.run(f'mpiexec -n 4 {sys.executable} -c "{code}"', nodes=("n1", "n2", "n3", "n4")) == ["4"]


def test_a_fork_bomb_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    need_namespaces()
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's own processes would count too")
    monkeypatch.setenv("GRIDPORTAL_GRID_PROCESSES", "64")
    launch.up(few_nodes(tmp_path), tmp_path / "grid", with_parent=True)
    house = House(tmp_path, Grid(tmp_path / "grid"), "root")
    try:
        bomb = "bomb() { bomb & bomb & sleep 600; }; bomb 2>/dev/null & "
        counted = "until set -- /proc/[0-9]*; (($# >= 55)); do :; done; echo $#"
        assert int(house.run(bomb + counted)[-1]) <= 70
        assert house.run("echo fine", owner="ann") == ["fine"]
        eventually(lambda: not house.grid.status()["nodes"][0]["pids"], "the end of the bomb")
    finally:
        house.grid.down()


def test_an_owner_keeps_a_number_and_nobody_else_gets_it(house: House) -> None:
    users = [house.run("id -u", owner=owner)[0] for owner in ("ann", "bob", "ann")]
    if house.grid.status()["isolation"]["level"] == "own-view":
        assert len(set(users)) == 1  # kept apart by what they see, not by who they are
        return
    assert users[0] == users[2] != users[1]
    state = State(house.grid.directory)
    first = uids.range_of(str(state.root))
    assert all(first <= int(user) < first + 65_536 for user in users)
    assert house.run("id -G; whoami; echo $USER; test -w $HOME && echo home", owner="ann")[0] == users[0]
    _, folder = house.start("touch mine", owner="ann")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert json.loads(state.owners.read_text())["ann"] == int(users[0]) - first


def test_an_owner_may_be_a_user_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("not root")
    monkeypatch.setenv("GRIDPORTAL_GRID_USERS", '{"ann": "nobody", "eve": "root", "max": "no-such-user"}')
    launch.up(few_nodes(tmp_path), tmp_path / "grid", mode="unshaped", with_parent=True)
    house = House(tmp_path, Grid(tmp_path / "grid"), "unshaped")
    try:
        assert house.run("id -un", owner="ann") == ["nobody"]
        for owner in ("eve", "max"):
            with pytest.raises(Exception, match="GRIDPORTAL_GRID_USERS is"):
                house.start("true", owner=owner)
    finally:
        house.grid.down()


def test_programs_elsewhere_still_run_and_an_administrator_may_show_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shown = tmp_path / "programs"
    shown.mkdir()
    (shown / "tool").write_text("#!/bin/sh\necho ran\n")
    (shown / "tool").chmod(0o755)
    monkeypatch.setenv("GRIDPORTAL_GRID_SHOW", json.dumps([str(shown)]))
    launch.up(few_nodes(tmp_path), tmp_path / "grid", mode="unshaped", with_parent=True)
    house = House(tmp_path, Grid(tmp_path / "grid"), "unshaped")
    try:
        assert house.run(f"{shown}/tool; ls {CHECKOUT / 'docs'} | grep -c applications.md") == ["ran", "1"]
    finally:
        house.grid.down()
