"""On CI a skipped test of a real part is a failure: there the parts are installed, so a skip hides a fault."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

_REAL_PARTS = ("grid", "browser", "redis", "postgres", "slurm", "prometheus", "ldap")


def _on_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marks = [name for name in _REAL_PARTS if item.get_closest_marker(name)]
    if report.skipped and marks and _on_ci() and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped on CI though it is marked {', '.join(marks)}: {report.longrepr}"
    return report
