"""The agents of a cluster as a source that is polled: from settings and known nodes to readings and what is told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gridportal.base import clusters
from gridportal.base.errors import InputError
from gridportal.network.sweep_result import ClusterFacts
from gridportal.network.topology import parse
from monitoring.history.selectors import series
from monitoring.telemetry import selectors
from monitoring.telemetry.adapters import agent_source as source
from monitoring.telemetry.adapters.agent_answers import Answer, Round
from monitoring.telemetry.adapters.agent_source import AgentSource
from monitoring.telemetry.commands import agent as commands
from monitoring.telemetry.core.reports import samples_of
from monitoring.telemetry.services import agents, polling
from monitoring.telemetry.services import clusters as telemetry_clusters
from tests.bench import simulated_agents
from tests.monitoring.telemetry.adapters.test_agent_pool import simulated

pytestmark = pytest.mark.django_db
STAR = {
    "nodes": [*({"id": str(n)} for n in range(4)), {"id": "s", "kind": "network"}],
    "links": [{"source": str(n), "target": "s", "capacity": 1e8} for n in range(4)],
}


@pytest.fixture
def hpc(tmp_path: Path, settings: Any) -> Iterator[clusters.Cluster]:
    """A cluster of four nodes, of which the agents of three answer."""
    key = tmp_path / "key"
    key.write_text(simulated_agents.KEY.decode())
    key.chmod(0o600)
    place = f"unix:{tmp_path}/{{node}}.sock"
    document = {"name": "hpc", "backend": "slurm", "agents": place, "agent_key": str(key)}
    (found,) = clusters.parse(json.dumps([document])).values()
    settings.CLUSTERS = {"hpc": found}
    telemetry_clusters.refresh_cluster(ClusterFacts(parse(STAR), "", ""), "hpc")
    with simulated(tmp_path, 3) as addresses:
        for node, address in addresses.items():
            (tmp_path / f"{node}.sock").symlink_to(address.removeprefix("unix:"))
        yield found
    source.close("hpc")


def test_what_agents_say_becomes_live_and_the_silent_one_is_told(hpc: clusters.Cluster, monkeypatch: Any) -> None:
    monkeypatch.setattr("monitoring.telemetry.services.sources.MAKERS", [agents.source])
    assert polling.poll("hpc") > 3 * 5
    live = series.live("hpc")
    assert live["0", "cpu"].value == pytest.approx(0.8)
    assert live["2:eth0", "tx"].value == pytest.approx(1e6)
    assert ("3", "cpu") not in live
    (row,) = selectors.sources("hpc")
    assert (row.name, row.kind, row.last_ok is not None) == ("agent", "agent", True)
    assert row.error.startswith("3 for 0 s (no such file")
    assert row.cost_bytes > 3 * 300


def test_a_silent_agent_is_told_since_its_last_answer_whichever_process_had_it(
    hpc: clusters.Cluster, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr("monitoring.telemetry.services.sources.MAKERS", [agents.source])
    polling.poll("hpc")
    (tmp_path / "2.sock").unlink()
    source.close("hpc")  # as in another process, that never heard of it
    heard = selectors.agents_heard("hpc", ["0", "1", "2", "3"])
    assert set(heard) == {"0", "1", "2"}
    monkeypatch.setattr(selectors, "agents_heard", lambda *_: heard | {"2": heard["2"] - 90.0})
    polling.poll("hpc")
    (row,) = selectors.sources("hpc")
    assert re.match(r"2 for 9\d s \(no such file", row.error)


def test_a_cluster_that_has_no_agents_or_no_nodes_yet_has_no_such_source(hpc: clusters.Cluster) -> None:
    assert isinstance(agents.source(hpc), AgentSource)
    assert agents.source(hpc.model_copy(update={"agents": ""})) is None
    assert agents.source(hpc.model_copy(update={"name": "other"})) is None


def test_a_key_that_cannot_be_read_is_the_sources_error(hpc: clusters.Cluster) -> None:
    assert hpc.agent_key
    hpc.agent_key.chmod(0o644)
    found = agents.source(hpc)
    assert found is not None
    with pytest.raises(Exception, match="chmod 600"):
        found.collect(0.0)


def test_probes_by_agents_are_as_the_settings_wish(hpc: clusters.Cluster) -> None:
    found = agents.source(hpc.model_copy(update={"probe": "agents"}))
    assert isinstance(found, AgentSource)
    assert found.probing is not None
    assert found.probing.settings.share == 0.02
    assert {node.id for node in found.probing.topology.compute_nodes()} == {"0", "1", "2", "3"}


def test_a_new_key_is_for_its_owner_and_never_overwrites_another(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert CliRunner().invoke(commands.app, ["key", str(file)]).exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.read_text()
    refused = CliRunner().invoke(commands.app, ["key", str(file)])
    assert isinstance(refused.exception, InputError)
    assert file.read_text() == before


GOOD = {"cpu": 1, "load": 0, "interfaces": {}, "runs": {}, "peers": {}, "pid": 1, "up": 1.0, "clock": [1.0, 1.0]}


@pytest.mark.parametrize(
    "lie",
    [
        {"cpu": 10**400},
        {"up": 10**400},
        {"probe": ["h", "x"]},
        {"probe": ["h", 1e999]},
        {"probe": 5},
        {"probe": {"a": 1}},
        {"probe": ["h", 0]},
        {"clock": [1e999, 1.0]},
        {"clock": [float("nan"), 1.0]},
        {"clock": [10**400, 1.0]},
        {"interfaces": {f"e{n}": [1, 2, 3, 4] for n in range(2000)}},
        {"runs": {f"r{n}": {"load": 0, "tx": 0, "rx": 0} for n in range(2000)}},
    ],
)
def test_an_agent_that_lies_is_told_of_and_costs_nothing_of_the_others(lie: dict[str, Any]) -> None:
    kept = source._Kept(source.Agents({"a": "a:1", "b": "b:1"}, b"k" * 16), None, None)  # type: ignore[arg-type]
    for _ in range(3):
        said = {"a": {**GOOD, **lie}, "b": GOOD}
        answers = {node: Answer(json.dumps(document).encode(), 1.0, 1.0) for node, document in said.items()}
        samples, unreadable = source._samples(kept, Round(answers, {}, 0.1, 100), 1000.0)
        assert set(unreadable) == {"a"}
        assert unreadable["a"].reason.startswith("its report cannot be read")
        assert {sample.subject for sample in samples} == {"b"}


def test_names_of_runs_that_cannot_be_shown_are_left_out() -> None:
    runs = {"x\ud800": {"load": 1, "tx": 0, "rx": 0}, "j1": {"load": 1, "tx": 0, "rx": 0}}
    found = list(samples_of("a", {**GOOD, "runs": runs, "interfaces": {"e\n": [1, 2, 3, 4]}}, None, 1.0, {}))
    assert {sample.subject for sample in found} == {"a", "a@j1"}
