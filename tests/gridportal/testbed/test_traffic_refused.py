"""Traffic on a machine that is too busy to change links: nothing stays half started, and words say what runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from gridportal.base.errors import BackendError, ShellError
from gridportal.network.topology import parse
from gridportal.testbed.generators import Traffic
from gridportal.testbed.layout import Layout, directed_rates, plan
from tests.gridportal.testbed.networks import crossbar


class Links:
    """The links' rates, where changing them may take too long."""

    def __init__(self) -> None:
        self.rates: dict[tuple[str, str], float] = {}
        self.refuses = 0

    async def apply(self, rates: Mapping[tuple[str, str], float]) -> None:
        if self.refuses:
            self.refuses -= 1
            raise ShellError("tc was not finished within 20 s.")
        self.rates |= rates


@pytest.fixture
def layout() -> Layout:
    return plan(parse(crossbar({("a", "b"): 100, ("b", "a"): 10, ("a", "c"): 50})))


def test_traffic_that_cannot_start_runs_not_at_all(layout: Layout) -> None:
    links = Links()

    async def begin() -> str:
        traffic = Traffic(layout, links.apply)
        await traffic.start(1, 1.0, 20, None)
        links.refuses = 1
        with pytest.raises(BackendError) as refused:
            await traffic.start(2, 1.0, 20, None)
        assert traffic.view() is None
        return str(refused.value)

    message = asyncio.run(begin())
    assert "The traffic was not started, and none runs now. That of seed 1, which ran, was ended." in message
    assert "All links have what they had" in message
    assert "not finished within 20 s" in message
    assert links.rates == directed_rates(layout.topology)


def test_links_that_may_stay_slowed_are_told_with_the_way_out(layout: Layout) -> None:
    links = Links()

    async def begin() -> str:
        traffic = Traffic(layout, links.apply)
        links.refuses = 2
        with pytest.raises(BackendError) as refused:
            await traffic.start(2, 1.0, 20, None)
        assert traffic.view() is None
        return str(refused.value)

    assert "testbed traffic --stop" in asyncio.run(begin())
