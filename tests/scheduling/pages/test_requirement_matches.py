"""What a job asks of its nodes: plain fields, requests in ClassAds and room for ranks in one explanation."""

from __future__ import annotations

import pytest

from monitoring.clusters.models import Node
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.pages.requirement_matches import requirement_match
from tests.markup import markup
from tests.scheduling.pages.test_pages import crossbar, form_of

__all__ = ["crossbar"]


@pytest.fixture
def asked(people, application, crossbar):
    """What is found for a job with these fields."""

    def ask(**fields):
        found = requirement_match(JobSpec(application, method="communication", **fields), people["user"])
        assert found is not None
        return found

    return ask


def changed(found) -> list[str]:
    return [found.answer.explanation.clauses[number].text for number in found.answer.explanation.smallest_change]


@pytest.mark.parametrize("classad", ["", "[ requirements = other.cpu > 0.1 ]", '[ Type = "Set" ]'])
def test_room_and_count_are_clauses_whoever_asks(asked, classad):
    found = asked(node_count=8, classad=classad)
    assert changed(found) == ["SetSize == 8" if "Set" in classad else "SetSize >= 8"]
    assert {"other.Allowed", "other.RankSlots >= 1"} <= {each.text for each in found.answer.explanation.clauses}


def test_the_same_fields_are_the_same_clauses_beside_a_request(asked):
    least = Requirements(min_cpu=1.0, require={"site": "mars"})
    plain, own = (asked(node_count=2, requirements=least, classad=text) for text in ("", "[ x = 1 ]"))
    assert [(each.text, each.passing) for each in plain.answer.explanation.clauses] == [
        (each.text, each.passing) for each in own.answer.explanation.clauses
    ]
    assert "site" in " ".join(changed(plain))
    assert changed(plain) == changed(own)


def test_memory_of_ranks_is_room(asked):
    Node.objects.update(labels={"cpus": "8", "mem_gb": "2"})
    assert len(asked(ranks=4, memory_per_rank=1024).answer.machines) >= 2
    found = asked(ranks=4, memory_per_rank=4096)
    assert not found.answer.machines
    assert any("RankSlots" in text for text in changed(found))


def test_excluded_nodes_are_not_allowed(asked):
    specification = JobSpec.__dataclass_fields__["specification"].default_factory().with_pins({}, ["n1"])
    found = asked(node_count=4, specification=specification)
    (allowed,) = [each for each in found.answer.explanation.clauses if "Allowed" in each.text]
    assert (allowed.passing, found.answer.pool) == (3, 4)


def test_preview_page_and_rest_say_the_same(client_as, people, make_job, application, crossbar):
    client = client_as("user")
    preview = markup(client.post("/submit/preview", form_of(application, min_cpu="1", require="speed>=9")))
    assert "other.speed &gt;= 9" in preview
    job = make_job(people["user"], "waiting", requirements=Requirements(require={"speed": ">=9"}))
    answer = client.get(f"/api/jobs/{job.pk}/requirements").json()
    assert answer["status"]["code"] == 404
    page = markup(client.get(f"/jobs/{job.pk}/requirements/"))
    assert answer["explanation"]["change"].replace(">", "&gt;") in page
    assert f"/jobs/{job.pk}/requirements/" in markup(client.get(f"/jobs/{job.pk}/"))


def test_the_preview_page_tells_a_mapper_that_fails_and_among_which_sets_it_chose(client_as, application, crossbar):
    text = '[ Type = "Set"; requirements = other.cpu > 0.1; rank = Sum(other.cpu); Mapper = "nobody" ]'
    shown = markup(client_as("user").post("/submit/preview", form_of(application, node_count="2", classad=text)))
    assert "The mapper nobody failed: LookupError" in shown
    assert "Of the sets that the request allows none has a higher rank." in shown


def test_the_page_of_clauses_shows_what_the_mapper_gives_or_why_it_fails(client_as, people, make_job, crossbar):
    client, user = client_as("user"), people["user"]
    text = '[ Type = "Set"; requirements = SetSize == 2; rank = Sum(other.cpu); Mapper = {} ]'
    mapped = make_job(user, "waiting", node_count=2, classad=text.format('[ libraryname = "block"; total = 100 ]'))
    answer = client.get(f"/api/jobs/{mapped.pk}/requirements").json()
    assert sum(machine["share"] for machine in answer["machines"]) == 100
    page = markup(client.get(f"/jobs/{mapped.pk}/requirements/"))
    assert "Order and shares by the mapper block." in page
    for machine in answer["machines"]:
        assert f'<td class="name">{machine["dns"]}</td>' in page
    failing = make_job(user, "waiting", node_count=2, classad=text.format('"nobody"'))
    told = "The mapper nobody failed: LookupError: no mapper is called"
    assert page.count("<code>SetSize == 2</code>") == 1, "the job's number of nodes and the request say the same"
    assert told in markup(client.get(f"/jobs/{failing.pk}/requirements/"))
    assert client.get(f"/api/jobs/{failing.pk}/requirements").json()["mapper"]["failure"].startswith("LookupError")
