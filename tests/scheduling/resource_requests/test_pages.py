"""Requests on pages and over REST."""

from __future__ import annotations

from html import unescape
from xml.etree import ElementTree

import pytest

from scheduling.matching.models import SavedRequest
from scheduling.matching.services.matches_at_once import match_of
from scheduling.resource_requests.models import MatchRequest
from tests.markup import markup
from tests.scheduling.resource_requests.pool_rows import THREE, TWO, keep_pool

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def pool():
    return keep_pool()


def page_text(answer) -> str:
    return unescape(markup(answer))


def send(client, **body):
    return client.post("/api/match-requests", body, content_type="application/json")


def test_a_request_over_rest_is_answered_as_json_and_as_the_papers_xml(client_as) -> None:
    client = client_as("user")
    made = send(client, request=TWO).json()
    assert (made["state"], made["machines"], made["answer"]["status"]["code"]) == ("answered", ["n1", "n2"], 200)
    assert [step["to_state"] for step in made["events"]] == ["waiting", "answered"]
    root = ElementTree.fromstring(client.get(f"/api/match-requests/{made['id']}?format=xml").content)
    assert [each.attrib["dns"] for each in root.findall("machineList/machine")] == ["n1", "n2"]
    why = client.get(f"/api/match-requests/{made['id']}/explain").json()
    assert (why["pool"], why["passing"], why["clauses"][0]["passing"]) == (4, 2, 2)
    page = page_text(client.get(f"/requests/{made['id']}/"))
    assert "2 machines: n1, n2. Proved best with rank 0.9" in page
    assert 'other.site == "utk" && other.cpu >= 0.8 && SetSize == 2' in page
    assert f"{made['id']}" in page_text(client.get("/requests/?show=answered"))


def test_one_that_waits_has_no_machines_in_xml_and_says_why_on_its_page(client_as) -> None:
    client = client_as("user")
    made = send(client, request=THREE, lifetime=60).json()
    assert (made["state"], made["machines"], made["lifetime"]) == ("waiting", [], 60)
    root = ElementTree.fromstring(client.get(f"/api/match-requests/{made['id']}?format=xml").content)
    result = root.find("result")
    assert result is not None
    assert result.attrib == {"statusCode": "202", "statusMessage": "waiting"}
    page = page_text(client.get(f"/requests/{made['id']}/"))
    assert "The smallest change: do without SetSize == 3." in page
    assert client.post(f"/api/match-requests/{made['id']}/cancel").json()["state"] == "cancelled"
    assert client.post(f"/api/match-requests/{made['id']}/cancel").status_code == 409
    ended = ElementTree.fromstring(client.get(f"/api/match-requests/{made['id']}?format=xml").content).find("result")
    assert ended is not None
    assert ended.attrib["statusMessage"].startswith("Cancelled. No set of resources")


def test_what_cannot_be_read_is_said_with_its_place(client_as) -> None:
    client = client_as("user")
    refused = send(client, request="[ a = ;")
    fault = {"field": "request", "message": refused.json()["request"][0], "line": 1, "column": 7}
    assert (refused.status_code, refused.json()["errors"]) == (400, [fault])
    assert fault["message"].startswith("request, line 1, column 7 is ';'; accepted is ")
    means_nothing = send(client, request='[ Type = "Set";\n rank = other.cpu ]').json()
    assert [(each["line"], each["column"]) for each in means_nothing["errors"]] == [(2, 9)]
    checked = client.post(
        "/api/match-requests/check", {"request": "[\n a = ) ]"}, content_type="application/json"
    ).json()
    assert [checked["error"][name] for name in ("field", "line", "column")] == ["request", 2, 6]
    assert checked["valid"] is False
    fragment = page_text(client.post("/requests/check", {"text": "[\n a = ) ]", "cluster": "grid"}))
    assert "It cannot be tried." in fragment
    assert fragment.count("line 2, column 6 is ')'") == 1, "its place is told once"
    in_xml = client.post("/api/match-requests?format=xml", {"request": "[ a = ;"}, content_type="application/json")
    result = ElementTree.fromstring(in_xml.content).find("result")
    assert result is not None
    assert result.attrib == {"statusCode": "400", "statusMessage": fault["message"]}
    assert not MatchRequest.objects.exists()


def test_kept_requests_are_shared_only_where_their_owner_says_so(client_as, people) -> None:
    client = client_as("user")
    for name, shared in (("mine", ""), ("ours", "on")):
        given = {"keep": "1", "name": name, "text": TWO, "cluster": "grid", "shared": shared}
        assert client.post("/requests/new", given).status_code == 302
    other = client_as("other")
    assert [each["name"] for each in other.get("/api/saved-requests").json()["results"]] == ["ours"]
    shared = SavedRequest.objects.get(name="ours")
    assert "SetSize == 2" in page_text(other.get(f"/requests/new?saved={shared.pk}"))
    changed = client.get(f"/requests/new?saved={shared.pk}").context["form"]
    assert [changed[name].value() for name in ("name", "shared")] == ["ours", True], "kept again it is the same one"
    assert not other.get(f"/requests/new?saved={shared.pk}").context["form"]["name"].value()
    for word, left in (({}, True), ({"shared": False}, False), ({"shared": True}, True)):
        asked = {"name": "ours", "request": THREE, **word}
        answer = client.post("/api/saved-requests", asked, content_type="application/json").json()
        assert (answer["id"], answer["shared"], answer["request"]) == (shared.pk, left, THREE)
    assert other.delete(f"/api/saved-requests/{shared.pk}").status_code == 403
    assert client.delete(f"/api/saved-requests/{shared.pk}").status_code == 204


def test_administrators_change_ads_on_the_page(client_as) -> None:
    client = client_as("administrator")
    assert client.post("/requests/ads/grid", {"node": "n9", "text": "[]"}).status_code == 422
    renamed = client.post("/requests/ads/grid", {"node": "n1", "text": '[ rack = 7; Machine = "n2" ]'})
    assert renamed.status_code == 422
    assert "the portal gives each node its own name" in page_text(renamed)
    assert client.post("/requests/ads/grid", {"node": "n1", "text": "[ rack = 7 ]"}).status_code == 302
    assert "[ rack = 7 ]" in page_text(client.get("/requests/?show=ads"))
    assert client.post("/requests/ads/grid", {"node": "n1", "text": ""}).status_code == 302
    assert "No node of grid has an ad of its own." in page_text(client.get("/requests/?show=ads"))


def test_a_request_to_keep_needs_a_name_and_says_so_beside_it(client_as) -> None:
    given = {"keep": "1", "name": "", "text": TWO, "cluster": "grid"}
    answer = client_as("user").post("/requests/new", given)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors["name"]) == ["Enter a name of 1 to 80 characters."]


def test_what_ended_without_a_set_says_why_everywhere(client_as) -> None:
    client = client_as("user")
    made = send(client, request=THREE).json()
    why = "No set of resources meets all requirements on the set. The smallest change: do without SetSize == 3."
    assert (made["state"], made["reason"], made["events"][-1]["reason"]) == ("unmatched", why, why)
    result = ElementTree.fromstring(client.get(f"/api/match-requests/{made['id']}?format=xml").content).find("result")
    assert result is not None
    assert result.attrib == {"statusCode": "404", "statusMessage": why}
    assert f'<td class="roomy">{why}</td>' in page_text(client.get(f"/requests/{made['id']}/"))


@pytest.mark.parametrize(
    ("address", "accepted"),
    [("/api/match-requests", "one of json, xml"), ("/api/jobs", "json"), ("/api/applications", "json")],
)
def test_a_format_that_there_is_not_is_refused_in_one_sentence(client_as, address, accepted) -> None:
    answer = client_as("user").get(f"{address}?format=yaml")
    assert (answer.status_code, answer.json()) == (400, {"format": [f"format is 'yaml'; accepted is {accepted}."]})
    header = client_as("user").get(address, headers={"Accept": "text/csv"})
    assert header.status_code == 406
    assert header.json()["detail"].startswith("Accept is 'text/csv'; accepted is ")


def test_the_preview_over_rest_warns_of_a_function_that_there_is_not(client_as, application) -> None:
    body = {"application": "ep", "node_count": 2, "parameters": {"klass": "W"}}
    body["classad"] = "[ requirements = cuont(other.cpus) > 1 || other.cpu >= 0 ]"
    shown = client_as("user").post("/api/preview", body, content_type="application/json").json()
    assert ["there is no function cuont" in each for each in shown["requirements"]["warnings"]] == [True]
    assert shown["requirements"]["explanation"]["clauses"]


def test_over_rest_the_second_change_of_one_text_is_told_of_the_first(client_as) -> None:
    client = client_as("user")

    def keep(text: str, shown: str = ""):
        asked = {"name": "ours", "request": text, "shown_version": shown}
        return client.post("/api/saved-requests", asked, content_type="application/json")

    assert keep(TWO, "none").status_code == 201, "there was none"
    read = client.get("/api/saved-requests").json()["results"][0]
    assert keep(THREE, read["shown_version"]).status_code == 200, "it replaced one"
    late = keep("[ rank = other.cpu ]", read["shown_version"])
    assert (late.status_code, late.json()["now"]) == (409, THREE)
    assert late.json()["detail"].startswith("You changed request at ")
    assert keep("[ rank = other.cpu ]", "none").status_code == 409, "it is there now"
    assert SavedRequest.objects.get().text == THREE
    assert keep("[ rank = other.cpu ]", late.json()["shown_version"]).status_code == 200
    assert keep(TWO).status_code == 200, "who says no version means whatever is there"


def test_over_rest_ads_of_nodes_are_not_overwritten_unseen(client_as) -> None:
    first, second = client_as("administrator"), client_as("administrator")

    def put(client, text: str, **said: str):
        return client.put("/api/resource-ads/grid", {"node": "n1", "ad": text, **said}, content_type="application/json")

    seen = put(first, "[ rack = 7 ]").json()[0]["shown_version"]
    assert put(first, "[ rack = 8 ]", shown_version=seen).status_code == 200
    late = put(second, "", shown_version=seen)
    assert (late.status_code, late.json()["now"]) == (409, "[ rack = 8 ]")
    assert "Nothing of yours is saved." in late.json()["detail"]
    assert put(second, "", shown_version=late.json()["shown_version"]).json() == []


def test_more_than_two_matches_of_a_person_are_refused_on_pages_and_over_rest(client_as, people) -> None:
    client, person = client_as("user"), people["user"]
    job = {"content_type": "application/json"}
    with match_of(person.pk), match_of(person.pk):
        for path in ("/api/match-requests", "/api/match-requests/check"):
            refused = client.post(path, {"request": TWO}, **job)
            assert (refused.status_code, refused["Retry-After"]) == (429, "2")
            assert refused.json()["detail"].startswith("Two of your requests are being matched")
        sent = client.post("/requests/new", {"text": TWO, "send": "1"})
        assert (sent.status_code, b"Two of your requests are being matched" in sent.content) == (429, True)
        live = client.post("/requests/check", {"text": TWO}).content.decode()
        assert "Two of your requests are being matched" in live
        assert 'hx-trigger="load delay:2s"' in live
    assert client.post("/api/match-requests", {"request": TWO}, **job).status_code == 201


def test_the_check_of_a_job_has_the_places_of_its_form(client_as) -> None:
    shown = client_as("user").post("/requests/check", {"classad": "[ requirements = other.cpu >= "}).content.decode()
    assert "Classad, line 1, column 30" in shown


def test_what_is_given_up_is_a_fault_over_rest(client_as) -> None:
    doubled = "".join(f"a{n} = a{n - 1} + a{n - 1};" for n in range(1, 53))
    text = f'[ Type = "Set"; a0 = 1; {doubled} requirements = a52 > 1; rank = 1 ]'
    sent = client_as("user").post("/api/match-requests", {"request": text}, content_type="application/json")
    assert sent.status_code == 400
    (fault,) = sent.json()["errors"]
    assert fault["column"] == text.index("a52 > 1") + 1
    assert "This expression is too large to be evaluated: a52 > 1" in fault["message"]
