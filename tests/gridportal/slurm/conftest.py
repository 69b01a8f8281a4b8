"""Fake Slurm commands on PATH for every case that can go wrong, and one real Slurm of our own for what is right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.slurm.backend import SlurmBackend
from gridportal.slurm.commands import SlurmCommands
from tests.gridportal.slurm.fakes import FakeSlurm
from tests.gridportal.slurm.private_slurm import PrivateSlurm, missing


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slurm: starts a private Slurm (slurmctld, slurmd, munged) on this machine")


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    """Fake commands, first on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = FakeSlurm(folder)
    fake.install()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return fake


@pytest.fixture
def backend(slurm: FakeSlurm) -> SlurmBackend:
    """The adapter before the fake commands."""
    return SlurmBackend(SlurmCommands(timeout=10))


@pytest.fixture(scope="package")
def private_slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateSlurm]:
    """A real Slurm with three nodes on loopback; everything that it starts ends with it."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    cluster = PrivateSlurm(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def real(private_slurm: PrivateSlurm, monkeypatch: pytest.MonkeyPatch) -> SlurmBackend:
    """The adapter before the private Slurm."""
    monkeypatch.setenv("SLURM_CONF", str(private_slurm.conf))
    return SlurmBackend(SlurmCommands(timeout=20))
