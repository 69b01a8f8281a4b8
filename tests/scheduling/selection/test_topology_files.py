"""The topology file of a Slurm cluster, in each of its forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.base.clusters import Cluster
from gridportal.base.errors import BackendError
from monitoring.telemetry.services.slurm_access import SlurmFacts

FABRIC = Path(__file__).parents[2] / "gridportal" / "network" / "importers" / "fabric.ibnetdiscover"


def tree(path: Path) -> SlurmFacts:
    return SlurmFacts(Cluster(name="hpc", backend="slurm", topology=path))


def test_the_output_of_ibnetdiscover_is_the_network_of_the_cluster() -> None:
    found = tree(FABRIC).tree()
    assert found is not None
    assert (found.name, len(found.compute_nodes()), len(found.links)) == ("hpc", 8, 12)


def test_a_file_that_is_wrong_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "fabric"
    path.write_text(FABRIC.read_text().replace('"S-b8cef603000000b1"[1]', '"S-ffff"[1]'))
    with pytest.raises(BackendError, match=r"The topology of hpc cannot be read from .*which has no block\."):
        tree(path).tree()
    path.write_text("SwitchName=s1")
    with pytest.raises(BackendError, match="line 1 is 's1'"):
        tree(path).tree()
