"""The users that owners of jobs get: nobody else on this machine is one of them, nor has them for containers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from gridportal.testbed.sandbox import uids
from gridportal.testbed.sandbox.identity import Identities
from gridportal.testbed.sandbox.job_rules import JobRules
from gridportal.testbed.state import State


def test_numbers_of_accounts_groups_and_containers_are_stepped_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges = tmp_path / "subuid"
    ranges.write_text("ann:300000:65536\nbob:365536:10\n# text\nodd:line\nsam::\n")
    _accounts(monkeypatch, users={299_999, 365_546}, groups={365_547})
    files = (str(ranges), str(tmp_path / "nothing"))
    assert [uids.next_free(number, files) for number in (299_998, 299_999, 300_000, 365_540, 365_548)] == [
        299_998,
        365_548,
        365_548,
        365_548,
        365_548,
    ]


def test_grids_have_ranges_of_their_own() -> None:
    ranges = {uids.range_of(f"/home/{name}/grid") for name in range(20)}
    assert len(ranges) > 15
    assert all(first > 2_000_200_000 and first + 65_536 < 2_147_352_576 for first in ranges)


def test_an_owner_whose_number_an_account_has_got_gets_another_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("gridportal.testbed.sandbox.identity._only_one_user", lambda: False)
    _accounts(monkeypatch, users=set(), groups=set())
    state = State(tmp_path)
    rules = JobRules(first_uid=700_000)
    assert _uids(Identities(state, rules), "ann", "bob") == [700_000, 700_001]
    _accounts(monkeypatch, users={700_000, 700_002}, groups=set())
    assert _uids(Identities(state, rules), "ann", "bob", "eve") == [700_003, 700_001, 700_004]
    assert json.loads(state.owners.read_text()) == {"ann": 3, "bob": 1, "eve": 4}


def _uids(identities: Identities, *owners: str) -> list[int]:
    return [identity.uid for owner in owners if (identity := identities.of(owner))]


def _accounts(monkeypatch: pytest.MonkeyPatch, users: set[int], groups: set[int]) -> None:
    def known(numbers: set[int]) -> object:
        def look(number: int) -> object:
            if number not in numbers:
                raise KeyError(number)
            return number

        return look

    monkeypatch.setattr(uids, "pwd", SimpleNamespace(getpwuid=known(users)))
    monkeypatch.setattr(uids, "grp", SimpleNamespace(getgrgid=known(groups)))
