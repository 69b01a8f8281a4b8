"""Where a job could go to no other nodes its decision says what each of them lacked: on its page and over REST."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.reasons import Code
from monitoring.clusters.models import Cluster, Node
from scheduling.checkpoints.services import nodes_lacking
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.cluster_options import ClusterOptions
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words

pytestmark = pytest.mark.django_db

FACTS = {"partitions": ["long"], "cpus": 4, "memory": 16_000 * 2**20}


@pytest.fixture
def run(make_job: Any, people: Any) -> Any:
    """It runs on n1 and n2 and asks for labels, processors and a partition; other nodes lack one thing each."""
    cluster = Cluster.objects.get_or_create(name="grid")[0]
    fields: dict[str, dict[str, Any]] = {
        "n1": {},
        "n2": {},
        "without-label": {"labels": {}},
        "small": {"facts": FACTS | {"cpus": 2}},
        "little-memory": {"facts": FACTS | {"memory": 1000 * 2**20}},
        "other-partition": {"facts": FACTS | {"partitions": ["short"]}},
        "loaded": {"cpu": 0.1},
        "taken": {"busy": True},
        "closed": {"closed": "drained: disk"},
        "good": {},
    }
    for place, (name, special) in enumerate(fields.items()):
        usual = {"labels": {"site": "here"}, "facts": FACTS, "cpu": 1.0, "load": 0.0}
        Node.objects.create(cluster=cluster, name=name, kind="compute", position=place, **(usual | special))
    job = make_job(
        people["user"],
        "running",
        cpus_per_rank=4,
        memory_per_rank=2000,
        method="compute",
        pattern="",
        requirements={"require": {"site": "here"}, "min_cpu": 0.5},
        options=ClusterOptions(partition="long"),
    )
    return job.runs.select_related("job__application", "placement").get()


def test_it_says_of_each_node_what_it_lacks(run: Any) -> None:
    found = {each.node: each.reason for each in nodes_lacking.nodes_lacking(run).nodes}
    assert {name: reason.code for name, reason in found.items()} == {
        "good": Code.NODE_LACKS_NOTHING,
        "without-label": Code.NODE_LACKS,
        "small": Code.NODE_LACKS_OPTION,
        "little-memory": Code.NODE_LACKS_OPTION,
        "other-partition": Code.NODE_LACKS_OPTION,
        "loaded": Code.NODE_LOW_CPU,
        "taken": Code.NODE_BUSY,
        "closed": Code.NODE_CLOSED,
    }
    assert found["small"].facts == {"option": "cpus", "needed": "4", "has": "2"}
    assert found["little-memory"].facts == {"option": "memory in MB", "needed": "2000", "has": "1000"}
    assert found["other-partition"].facts == {"option": "partition", "needed": "long", "has": "short"}
    assert found["good"].facts["room"] < found["good"].facts["ranks"]


def test_a_node_that_the_job_excludes_is_told_as_such(run: Any) -> None:
    run.job.specification = ApplicationSpecification.read({"exclude": ["good"]})
    (good,) = [each for each in nodes_lacking.nodes_lacking(run).nodes if each.node == "good"]
    assert good.reason.code == Code.NODE_EXCLUDED


def test_page_and_rest_have_it_as_a_table(run: Any, client_as: Any) -> None:
    lacking = nodes_lacking.nodes_lacking(run).document()
    row = propose(run.job, state="declined", verdict="no_nodes", nodes=[], ret_new=None, gain=None, lacking=lacking)
    page = words(client_as("operator").get(row.get_absolute_url()))
    assert "None of 8 other nodes could take the job then." in page
    assert "<td>other-partition</td> <td>partition long was asked for; it has short" in page
    assert "<td>closed</td> <td>takes no jobs: drained: disk" in page
    answer = client_as("operator").get(f"/api/migrations/{row.pk}").json()["lacking"]
    (small,) = [each for each in answer["nodes"] if each["node"] == "small"]
    assert (small["code"], small["facts"]["has"]) == ("node_lacks_option", "2")
    assert small["reason"] == "cpus 4 was asked for; it has 2"
    assert sum(each["nodes"] for each in answer["counts"]) == 8


def test_of_ten_thousand_nodes_some_are_named_and_all_are_counted(run: Any, client_as: Any) -> None:
    cluster = Cluster.objects.get(name="grid")
    Node.objects.bulk_create(
        Node(cluster=cluster, name=f"m{at}", position=100 + at, facts=FACTS | {"cpus": 2}) for at in range(10_000)
    )
    found = nodes_lacking.nodes_lacking(run)
    assert len(found.nodes) == nodes_lacking.MOST_NAMED
    assert found.left == 10_008
    row = propose(run.job, state="declined", verdict="no_nodes", nodes=[], lacking=found.document())
    page = words(client_as("operator").get(row.get_absolute_url()))
    assert "None of 10,008 other nodes could take the job then." in page
    assert '<td class="num">10,001</td> <td>cpus 4 was asked for; it has 2</td>' in page


def test_a_decision_with_other_nodes_has_no_such_table(run: Any, client_as: Any) -> None:
    page = words(client_as("operator").get(propose(run.job).get_absolute_url()))
    assert "What other nodes lacked" not in page
