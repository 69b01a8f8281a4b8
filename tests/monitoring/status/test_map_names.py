"""Names on the map: no line goes through one, and none is cut at the edge."""

from __future__ import annotations

import math

import pytest

from monitoring.status.charts.layout import radial
from monitoring.status.charts.name_places import name_places, room_for_names
from monitoring.status.charts.network_map import Marked, MarkedGroup, Spot, Wire, figure, wires

DIRECTIONS = {
    **{"middle right": 0, "top right": 45, "top center": 90, "top left": 135},
    **{"middle left": 180, "bottom left": 225, "bottom center": 270, "bottom right": 315},
}
LINES = [("r1", "a"), ("r1", "b"), ("r1", "c"), ("r1", "r2"), ("r2", "d"), ("r2", "e"), ("r2", "f")]
NAMES = sorted({end for line in LINES for end in line})


def test_lines_keep_off_the_names_of_switches() -> None:
    at = radial(tuple(NAMES), tuple(LINES), ("r1", "r2"))
    found = name_places(at, LINES)
    for name in ("r1", "r2"):
        others = [b if a == name else a for a, b in LINES if name in (a, b)]
        angles = [math.degrees(math.atan2(at[o][1] - at[name][1], at[o][0] - at[name][0])) for o in others]
        off = [abs((angle - DIRECTIONS[found[name]] + 180) % 360 - 180) for angle in angles]
        assert min(off) >= 25, (name, found[name], off)


@pytest.mark.parametrize(("name", "left"), [("n1", 72), ("a-very-long-name", 128)])
def test_there_is_room_for_long_names_at_the_side_where_they_stand(name: str, left: int) -> None:
    room = room_for_names([{"text": [name], "textposition": ["middle left"]}])
    assert (room["l"], room["r"]) == (left, 72)


def test_the_ranks_of_a_node_stand_below_its_name() -> None:
    spots = [Spot("n1", "compute", 1.0), Spot("n2", "compute", 1.0)]
    lines = [Wire("n1", "n2", 1e8, 5e7)]
    marked = Marked(MarkedGroup(("n1", "n1", "n1", "n1", "n1", "n2")))
    drawn = figure(spots, wires([]) or lines, {"n1": (-1.0, 0.0), "n2": (1.0, 0.0)}, marked)
    texts = [text for trace in drawn["data"] if "textposition" in trace for text in trace["text"]]
    assert [text.split("<br>")[0].strip() for text in texts] == ["n1", "n2"]
    assert texts[0].split("<br>")[1].strip() == "ranks 0, 1, 2, …, 4"
