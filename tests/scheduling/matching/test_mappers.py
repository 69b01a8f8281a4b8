"""Mappers: the shipped ones, and those of others, whatever they do."""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.plugin_processes import is_shipped, shared_names
from gridportal.base.work_shares import shares
from gridportal.serve import doctor
from scheduling.matching.core.mapping.line_mapper import block, cactus, line
from scheduling.matching.core.mapping.mapper_interface import GROUP, MappedShare, MapperMachine, MapperQuestion, checked
from scheduling.matching.match_messages import mapper_message, notice_message
from scheduling.matching.services.mapping import mapped, mapper_names, with_shares
from scheduling.matching.services.match_texts import MatchQuestion, answer
from scheduling.matching.services.pattern_mapper import pattern

UTK, UCSD = [f"torc{n}.cs.utk.edu" for n in (1, 2, 3)], [f"m{n}.ucsd.edu" for n in (1, 2)]


def question(*machines: tuple[str, float, float], **options: object) -> MapperQuestion:
    made = tuple(MapperMachine(dns, 1, seconds, {"cpuspeed": speed}) for dns, speed, seconds in machines)
    return MapperQuestion(made, dict(options))


def test_the_line_begins_with_the_fastest_and_keeps_sites_together() -> None:
    asked = question((UCSD[0], 400, 1), (UTK[0], 547, 1), (UCSD[1], 410, 1), (UTK[1], 500, 1), (UTK[2], 520, 1))
    assert [asked.machines[share.place].dns for share in line(asked)] == [UTK[0], UTK[2], UTK[1], UCSD[1], UCSD[0]]


def test_measured_bandwidths_count_before_names() -> None:
    asked = question((UTK[0], 547, 1), (UTK[1], 500, 1), (UCSD[0], 400, 1))
    measured = MapperQuestion(asked.machines, bandwidths={"0-2": 1e9, "1-2": 1e6})
    assert [share.place for share in line(measured)] == [0, 2, 1]


def test_the_shares_of_the_paper() -> None:
    # 5.2: 450 MHz idle against 500 MHz with a load of 2, that is a slowdown of 3, over 200 planes
    asked = question(("dralion.ucsd.edu", 450, 1 / 450), ("cirque.ucsd.edu", 500, 3 / 500), total=200)
    assert {share.place: share.share for share in line(asked)} == {0: 146, 1: 54}


def test_cactus_deals_out_the_planes_of_the_request() -> None:
    asked = question((UTK[0], 547, 20), (UTK[1], 547, 15))
    dealt = cactus(MapperQuestion(asked.machines, request={"x": 100, "z": 35}))
    assert [share.share for share in dealt] == [15, 20]


def test_blocks_go_by_speed_and_processors() -> None:
    machines = (MapperMachine("a", 1, 5.0, {"speed": 300}), MapperMachine("b", 2, 50.0, {"speed": 300}))
    assert block(MapperQuestion(machines, {"total": 9})) == [MappedShare(1, 6), MappedShare(0, 3)]


def test_a_pattern_puts_machines_that_talk_on_good_pairs() -> None:
    machines = tuple(MapperMachine(f"m{n}", 1) for n in range(4))
    good = {"0-2": 1e9, "2-1": 1e9, "1-2": 1e9, "1-3": 1e9}
    rates = {f"{a}-{b}": good.get(f"{a}-{b}", 1e6) for b in range(4) for a in range(b)}
    order = [share.place for share in pattern(MapperQuestion(machines, {"pattern": "line"}, bandwidths=rates))]
    assert order in ([0, 2, 1, 3], [3, 1, 2, 0])


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30), st.integers(1, 1000))
def test_whole_shares_add_up_and_leave_nobody_out(weights: list[float], total: int) -> None:
    dealt = shares(weights, total)
    assert sum(dealt) == total
    assert all(share == int(share) >= 0 for share in dealt)
    assert min(dealt) >= 1 or total < len(weights)
    exact = [weight / sum(weights) * total for weight in weights]
    if min(exact) >= 1:
        assert max(abs(a - b) for a, b in zip(dealt, exact, strict=True)) <= 1 + 1e-9


@pytest.mark.parametrize("given", [[], [MappedShare(0, 1)], [MappedShare(0, 1), MappedShare(0, 1)]])
def test_an_answer_that_leaves_machines_out_is_none(given: list[MappedShare]) -> None:
    with pytest.raises(ValueError, match="not each of 0 to 1 once"):
        checked(given, 2)
    with pytest.raises(ValueError, match="share"):
        checked([MappedShare(0, float("nan"))], 1)


def test_the_shipped_mappers_are_entry_points() -> None:
    assert {"line", "block", "pattern", "cactus"} <= set(mapper_names())


PACKAGE = """
import sys, time
from scheduling.matching.core.mapping.mapper_interface import MappedShare

def reverse(question):
    import ctypes, os
    print("this is no answer")
    os.write(1, b"{nor this")
    ctypes.CDLL(None).printf(b"nor what C keeps until the end")
    return [MappedShare(place, 0.5) for place in reversed(range(len(question.machines)))]

def fails(question):
    raise RuntimeError("no model of this machine")

def slow(question):
    time.sleep(60)

def wrong(question):
    return [MappedShare(7, 1.0)]

def dies(question):
    import os
    os._exit(3)

def killed(question):
    import os, signal
    print("so far so good")
    os.kill(os.getpid(), signal.SIGKILL)

def leaves(question):
    import os
    os._exit(0)

def exits(question):
    sys.exit(0)

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")

def mute(question):
    raise Mute

def large(question):
    bytearray(3 << 30)

def five(question):
    return [MappedShare(place, 5) for place in range(len(question.machines))]

def nothing(question):
    return [MappedShare(place, 0) for place in range(len(question.machines))]

def curious(question):
    import os
    raise RuntimeError(" ".join(sorted({"REDIS_URL", "GRIDPORTAL_HOME", "PATH"} & set(os.environ))))

def parent(question):
    import subprocess
    child = subprocess.Popen(["sleep", "600"])
    with open(question.options["file"], "w") as file:
        file.write(str(child.pid))
    return [MappedShare(place, 0.5) for place in range(len(question.machines))]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own package with mappers, as it is when it is installed."""
    (tmp_path / "their_mappers.py").write_text(PACKAGE)
    info = tmp_path / "their_mappers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-mappers\nVersion: 1.0\n")
    names = ("reverse", "fails", "slow", "wrong", "dies", "killed", "absent", "leaves", "exits", "mute", "large")
    names += ("five", "nothing", "curious", "parent")
    points = "line = their_mappers:reverse\n" + "".join(f"{name} = their_mappers:{name}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[gridportal.mappers]\n{points}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("fails", "RuntimeError: no model of this machine"),
        ("wrong", "ValueError: it gave the machines [7], not each of 0 to 1 once"),
        ("absent", "AttributeError"),
        ("nobody", "LookupError: no mapper is called 'nobody'"),
        ("dies", "its process ended with exit code 3 and without a word"),
        ("leaves", "it ended without an answer (exit code 0)"),
        ("exits", "it ended without an answer (exit code 0)"),
        ("large", "it needed more than 2 GiB of memory"),
        ("nothing", "it gave each machine the share 0; one has to be above 0"),
        ("killed", "its process was ended by signal 9 (SIGKILL), as happens where memory runs out"),
    ],
)
def test_a_mapper_that_fails_is_reported_in_its_own_words(name: str, failure: str) -> None:
    reply = mapped(name, question(("a", 1, 1), ("b", 1, 1)), 60)
    assert reply.shares == ()
    assert failure in reply.failure
    assert reply.failure


@pytest.mark.usefixtures("package")
def test_an_error_without_words_is_told_by_its_type() -> None:
    assert mapped("mute", question(("a", 1, 1), ("b", 1, 1)), 60).failure == "Mute"


@pytest.mark.usefixtures("package")
def test_a_mapper_sees_nothing_that_the_portal_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REDIS_URL", "GRIDPORTAL_HOME"):
        monkeypatch.setenv(name, "secret")
    assert mapped("curious", question(("a", 1, 1)), 60).failure == "RuntimeError: PATH"


def is_alive(state: Path) -> bool:
    """Whether the process of a file /proc/N/stat is there and no zombie."""
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.usefixtures("package")
def test_what_a_mapper_leaves_behind_is_ended(tmp_path: Path) -> None:
    kept = tmp_path / "child"
    assert len(mapped("parent", question(("a", 1, 1), ("b", 1, 1), file=str(kept)), 60).shares) == 2
    state, until = Path(f"/proc/{kept.read_text()}/stat"), time.monotonic() + 30
    while is_alive(state) and time.monotonic() < until:  # the kernel ends it a moment later
        time.sleep(0.05)
    assert not is_alive(state)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(("total", "share", "told"), [("", 0.5, True), ("; total = 10", 5, False)])
def test_shares_that_are_no_fractions_are_brought_to_one(total: str, share: float, told: bool) -> None:
    text = f'[ Type = "Set"; requirements = SetSize == 2; Mapper = [ name = "five"{total} ] ]'
    made = answer(MatchQuestion(text, '[ name = "a" ] [ name = "b" ]'))
    made = with_shares(made, lambda names: {}, partial(mapped, seconds=60))
    assert [machine.share for machine in made.machines] == [share, share]
    sentence = "the shares of the mapper five have the sum 10; they are brought to 1"
    assert [notice_message(notice) for notice in made.notices] == [sentence] * told


@pytest.mark.usefixtures("package")
def test_a_mapper_of_another_package_is_used_and_a_slow_one_is_not_waited_for() -> None:
    asked = question(("a", 1, 1), ("b", 1, 1))
    assert mapped("reverse", asked, 60).shares == (MappedShare(1, 0.5), MappedShare(0, 0.5))
    assert mapped("slow", asked, 3).failure == "no answer within 3 s"


@pytest.mark.usefixtures("package")
def test_a_mapper_of_another_package_takes_no_name_of_the_portals_and_that_is_told() -> None:
    reply = mapped("line", question((UCSD[0], 400, 1), (UTK[0], 547, 1), (UTK[1], 500, 1)), 60)
    assert [share.place for share in reply.shares] == [1, 2, 0], "the portal's line, not the reverse order"
    assert [(each.name, each.used, each.unused) for each in shared_names(GROUP)] == [
        ("line", "gridportal", ("their-mappers",))
    ]
    assert is_shipped(GROUP, "line")
    assert not is_shipped(GROUP, "reverse")
    (found,) = [each for each in doctor._plugins() if each.topic == "mappers"]
    assert found.state == "partly"
    assert found.seen.endswith("line is the one of gridportal; that of their-mappers is not used")


@pytest.mark.usefixtures("package")
def test_an_answer_tells_of_a_mapper_that_its_name_hides() -> None:
    text = '[ Type = "Set"; requirements = SetSize == 2; Mapper = "line" ]'
    made = answer(MatchQuestion(text, '[ name = "a" ] [ name = "b" ]'))
    made = with_shares(made, lambda names: {}, partial(mapped, seconds=60))
    assert made.mapper is not None
    assert mapper_message(made.mapper).endswith(
        "Another package has a mapper line too, which is not used: their-mappers."
    )
