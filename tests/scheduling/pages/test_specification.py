"""Groups, links, pins and excluded nodes: on the form in rows, as a document or a file, over REST, and again later."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string

from monitoring.clusters.models import Node
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.pages.forms import SubmitForm, initial
from scheduling.pages.specification_fields import Draft
from tests.markup import markup
from tests.scheduling.pages.test_pages import crossbar, form_of

__all__ = ["crossbar"]
JSON = "application/json"
DOCUMENT = {
    "groups": [
        {"name": "server", "count": 1, "most": "cpu"},
        {"name": "clients", "count": 3, "require": ["site=here"]},
    ],
    "links": [{"source": "server", "target": "clients"}],
    "pins": {"server": "n2"},
    "exclude": [],
}
ASKED = ApplicationSpecification.read(DOCUMENT)
ROWS = {
    "specification-group-name": ["server", "clients", ""],
    "specification-group-count": ["1", "3", "1"],
    "specification-group-require": ["", "site=here", ""],
    "specification-group-most": ["cpu", "", ""],
    "specification-link-source": ["server"],
    "specification-link-target": ["clients"],
    "specification-link-weight": ["1"],
    "specification-link-pattern": [""],
    "pins": "server=n2",
}


def asked(application, **changes):
    return form_of(application, node_count="", method="pattern", pattern="") | changes


def test_rows_a_document_a_file_and_rest_ask_for_the_same(client_as, application, crossbar):
    Application.objects.filter(pk=application.pk).update(pattern="")
    client, text = client_as("user"), json.dumps(DOCUMENT)
    for sent in (
        ROWS,
        {"specification-document": text},
        {"specification-file": SimpleUploadedFile("spec.json", text.encode())},
    ):
        answer = client.post("/submit/", asked(application, **sent))
        assert answer.status_code == 302, markup(answer)
    body = {"application": "ep", "method": "pattern", "specification": DOCUMENT}
    made = client.post("/api/jobs", body, content_type=JSON)
    assert made.status_code == 201, made.content
    assert made.json()["specification"] == ASKED.document()
    jobs = list(Job.objects.all())
    assert [job.specification for job in jobs] == [ASKED] * 4
    assert {(job.ranks, job.nodes_open, job.pattern) for job in jobs} == {(4, True, "")}


def test_an_old_job_fills_the_rows_and_asks_for_the_same_again(client_as, submit, application, crossbar):
    job = submit(None, method="pattern", pattern="", specification=ASKED)
    old = JobSpec.from_row(Job.objects.get(pk=job.pk))
    page = markup(client_as("user").get(f"/submit/?application=ep&from={job.pk}"))
    assert 'name="specification-group-name" value="clients"' in page
    assert 'value="server=n2"' in page
    first = initial(application, job.owner, old)
    shown = {name: value for name, value in first.items() if value is not None and value is not False}
    form = SubmitForm(application, shown | ROWS)
    assert form.is_valid(), form.errors
    assert form.to_spec().specification == old.specification == ASKED
    told = markup(client_as("user").get(job.get_absolute_url()))
    for words in ("group server", "1 rank with the most cpu", "server pinned to", "server and clients"):
        assert words in told, words


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"pins": "n3"}, "pins", "rank=node or group=node pairs"),
        ({"pins": "0=n99"}, "pins", "'n99' is not possible. Enter a compute node of grid."),
        ({"pins": "7=n1"}, "pins", "7 is not possible. Enter a rank from 0 to 1."),
        ({"pins": "0=n1 00=n2"}, "pins", "Enter one entry for rank 0, with all its nodes."),
        ({"exclude": "n1 n2 n3"}, "exclude", "Enter at most 2 of 4 nodes, since the job needs 2."),
        ({"specification-document": '{"groups": {}}'}, "specification", "Enter a list."),
        ({"exclude": "mars"}, "exclude", "'mars' is not possible. Enter a compute node of grid."),
        ({"pins": "0=n1", "exclude": "n1"}, "pins", "a node that is not excluded"),
        ({"specification-document": "{"}, "specification", "Enter JSON that can be read (line 1, column 2"),
        ({"specification-document": "[" * 10_000}, "specification", "Enter JSON that can be read (it is nested more"),
        ({"specification-document": "[1]"}, "specification", "an object with groups"),
        ({"specification-document": '[["groups", []]]'}, "specification", "an object with groups"),
        ({**ROWS, "specification-document": "{}"}, "specification", "in rows or in a document, not both"),
        (
            {**ROWS, "specification-group-count": ["1", "many", "1"]},
            "specification",
            "Entry 2, count: many is not possible. Enter a whole number",
        ),
        ({**ROWS, "ranks": "2"}, "ranks", "4, as many as the groups have together, or nothing"),
        ({**ROWS, "specification-link-source": ["mars"]}, "specification", "the name of a group (server, clients)"),
    ],
)
def test_what_cannot_be_stands_beside_its_field(client_as, application, crossbar, changes, field, words):
    sent = form_of(application, method="pattern", pattern="ring" if "7=n1" in str(changes) else "") | changes
    if "specification-group-name" in changes:
        sent["node_count"] = ""
    page = client_as("user").post("/submit/", sent)
    assert page.status_code == 422
    assert f'id="id_{field}_error"' in markup(page)
    assert words.replace("'", "") in markup(page).replace("&#x27;", "").replace("'", "")
    assert not Job.objects.exists()


def test_links_go_with_a_method_that_counts_pairs(client_as, application, crossbar):
    body = {"application": "ep", "specification": DOCUMENT}
    client = client_as("user")
    refused = client.post("/api/jobs", body | {"method": "compute"}, content_type=JSON).json()
    assert "the method pattern or balanced with links" in str(refused)
    refused = client.post("/api/jobs", body | {"method": "pattern", "pattern": "ring"}, content_type=JSON).json()
    assert "since the links of the specification say who talks" in str(refused["pattern"])
    sent = client.post("/submit/", asked(application, **ROWS) | {"method": "compute"})
    assert sent.status_code == 302  # rows that its method has no use for are hidden
    assert not Job.objects.get().specification.links


def test_pins_of_the_address_stand_in_the_form_and_in_the_preview(client_as, application, crossbar):
    page = markup(client_as("user").get("/submit/?application=ep&pins=0%3Dn3&exclude=n4"))
    assert 'name="pins" value="0=n3"' in page
    assert 'name="exclude" value="n4"' in page
    form = form_of(application, pins="0=n3", exclude="n4", method="pattern", pattern="ring")
    shown = markup(client_as("user").post("/submit/preview", form))
    assert 'id="pin-n3" data-pins data-node="n3" data-ranks="0" aria-pressed="true"' in " ".join(shown.split())
    assert "Allow again" in shown
    assert "n4</td>" in shown


def test_several_conditions_on_labels_may_have_and_between_them_and_are_shown_as_typed(
    client_as, application, crossbar
):
    Node.objects.update(labels={"mem_gb": "32", "rack": "1"})
    client = client_as("user")
    answer = client.post("/submit/", form_of(application, require="mem_gb >= 16 and rack=1", pins="0=n1, n2 1=n3|n4"))
    assert answer.status_code == 302, markup(answer)
    job = Job.objects.get()
    assert job.requirements.require == {"mem_gb": ">=16", "rack": "1"}
    assert job.specification.pinned() == {0: ("n1", "n2"), 1: ("n3", "n4")}
    assert "mem_gb&gt;=16" in markup(client.get(f"/jobs/{job.pk}/"))


def test_conditions_of_a_group_may_have_and_between_them():
    row = {"name": "clients", "count": "3", "require": "mem_gb>=16 and rack=1", "most": ""}
    assert Draft((row,)).document()["groups"][0]["require"] == ["mem_gb>=16", "rack=1"]


def test_candidates_have_their_nodes_in_the_order_of_the_script():
    group = CandidateGroup(("n2", "n2", "n4", "n1", "n2"))
    page = render_to_string("partials/candidates.html", {"candidates": [(group, None)]})
    assert "n2 ×2 n4 n1 n2" in page
