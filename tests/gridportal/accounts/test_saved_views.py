"""Views of lists that people save: kept, chosen, the one a list begins with, columns; nobody else's; over REST."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gridportal.accounts import list_pages, saved_views
from gridportal.accounts.list_pages import LISTS
from gridportal.accounts.models import SavedView
from gridportal.accounts.saved_views import change_view, save_view
from gridportal.base.errors import ConflictError, InputError
from scheduling.jobs.group_models import JobGroup
from scheduling.reports.use_cells import USE
from tests.markup import markup as html

pytestmark = pytest.mark.django_db

FAILED = "state=failed&sort=-submitted&column=state&column=owner"


def save(client: Any, key: str = "jobs", **form: str) -> Any:
    return client.post(f"/saved-views/of/{key}", {"name": "Failed", "query": FAILED, **form}, follow=True)


def heads(answer: Any) -> list[str]:
    head = html(answer).partition("<thead>")[2].partition("</thead>")[0]
    return [re.sub("<[^>]+>", "", cell).strip() for cell in re.findall(r"<th.*?</th>", head, re.DOTALL)]


def test_what_is_shown_is_saved_and_picked_again(client_as: Any, people: Any, make_job: Any) -> None:
    make_job(people["user"], "failed", name="broken")
    client = client_as("operator")
    page = save(client, query=f"{FAILED}&page=7&q=&asked=now")
    assert page.request["QUERY_STRING"] == FAILED
    assert heads(page) == ["", "Job", "State", "Owner"]
    assert "broken" not in html(page)  # its column is not shown
    assert SavedView.objects.get().query == FAILED
    assert 'aria-current="true">Failed</a>' in html(page)
    assert f'href="/jobs/?{FAILED}"'.replace("&", "&amp;") in html(client.get("/jobs/?q=other"))


def test_a_list_begins_with_the_default_and_all_is_a_click_away(client_as: Any, people: Any) -> None:
    client = client_as("user")
    save(client, is_default="1")
    answer = client.get("/jobs/")
    assert (answer.status_code, answer["Location"]) == (302, f"/jobs/?{FAILED}")
    assert client.get("/jobs/?view=all").status_code == 200
    assert client.get("/jobs/?q=").status_code == 200
    assert client.get("/jobs/", headers={"HX-Request": "true"}).status_code == 200
    assert client.get("/jobs.csv").status_code == 200
    save(client, name="Mine", query="q=mine", is_default="1")
    assert [view.name for view in SavedView.objects.filter(is_default=True)] == ["Mine"]


def test_the_same_name_gets_what_is_shown_now(client_as: Any, people: Any) -> None:
    client = client_as("user")
    save(client)
    save(client, name="failed", query="state=failed")
    assert list(SavedView.objects.values_list("name", "query")) == [("failed", "state=failed")]


@pytest.mark.parametrize("form", [{"name": ""}, {"name": " "}, {"name": "x" * 61}])
def test_a_name_that_cannot_be_is_refused_in_a_sentence(client_as: Any, people: Any, form: dict[str, str]) -> None:
    assert "Enter a name of 1 to 60 characters." in html(save(client_as("user"), **form))
    assert not SavedView.objects.exists()


def test_columns_stay_when_a_filter_changes_and_the_usual_ones_come_back(client_as: Any, people: Any) -> None:
    client = client_as("user")
    page = html(client.get("/jobs/?column=state&column=cluster&column=nonsense&q=x"))
    assert page.count('<input type="hidden" name="column" value="cluster">') == 1
    assert "nonsense" not in page.replace("column=nonsense", "")
    assert 'href="?view=all&amp;column=state&amp;column=cluster">Clear</a>' in page
    assert "The usual ones" in page


@pytest.mark.parametrize("key", [key for key, page in LISTS.items() if page.columns])
def test_each_column_of_a_list_is_shown_when_it_is_chosen(client_as: Any, people: Any, make_job: Any, key: str) -> None:
    make_job(people["user"], "running")
    save_view(people["administrator"], key, "one", "")
    client, page = client_as("administrator"), LISTS[key]
    for column in page.columns:
        answer = client.get(SavedView(list=key, query=f"column={column.name}").get_absolute_url(), follow=True)
        assert answer.status_code == 200
        assert answer.context["shown"] == {column.name}


def test_a_view_of_a_report_keeps_its_tab_its_time_and_its_columns(client_as: Any, people: Any, make_job: Any) -> None:
    make_job(people["user"], "running")
    client = client_as("user")
    query = "since=7d&column=jobs&column=failed"
    page = client.get(f"/reports/places/?{query}")
    assert heads(page)[:4] == ["Figure", "This time", "Time before", "Change"]
    assert "Node-hours</a>" not in html(page).partition('id="clusters"')[2].partition("</thead>")[0]
    assert f'name="query" value="tab=places&amp;{query.replace("&", "&amp;")}"' in html(page)
    page = save(client, "reports", name="Places", query=f"tab=places&{query}", is_default="1")
    assert (page.request["PATH_INFO"], page.request["QUERY_STRING"]) == ("/reports/places/", query)
    assert 'aria-current="true">Places' in html(page)
    assert client.get("/reports/", follow=True).request["PATH_INFO"] == "/reports/places/"
    save(client, "reports", name="Chosen", query="tab=skeletons&state=failed")
    page = client.get(SavedView.objects.get(name="Chosen").get_absolute_url(), follow=True)
    assert (page.request["PATH_INFO"], page.request["QUERY_STRING"]) == ("/reports/skeletons/", "state=failed")
    assert client.get("/reports/?view=all", follow=True).request["PATH_INFO"] == "/reports/people/"
    lines = b"".join(client.get(f"/reports/places/clusters.csv?{query}").streaming_content).decode().splitlines()
    assert lines[0] == "cluster,jobs,failed,utilization"


def test_the_columns_to_choose_in_a_report_are_those_of_its_tables() -> None:
    assert [column.name for column in LISTS["reports"].columns] == [head.name for head in USE]


def test_sweeps_are_searched_and_sorted(client_as: Any, people: Any, application: Any) -> None:
    for name, owner in (("alpha", "user"), ("beta", "other")):
        axes = [{"name": "klass", "values": ["S"]}]
        JobGroup.objects.create(owner=people[owner], application=application, name=name, axes=axes)
    client = client_as("operator")

    def names(query: str) -> list[str]:
        return [group.name for group in client.get(f"/sweeps/?{query}").context["page"]]

    assert names("view=all") == ["beta", "alpha"]
    assert names("sort=owner") == ["beta", "alpha"]
    assert names("sort=name") == names("sort=-owner") == ["alpha", "beta"]
    assert names("q=alph") == names("q=user") == ["alpha"]
    assert names(f"q={JobGroup.objects.get(name='beta').pk}") == ["beta"]
    assert "No sweep has “gamma” in it" in html(client.get("/sweeps/?q=gamma"))
    assert heads(client.get("/sweeps/?column=jobs")) == ["Sweep", "Jobs"]


def test_a_view_is_renamed_made_the_default_and_removed(client_as: Any, people: Any) -> None:
    client = client_as("user")
    save(client)
    view = SavedView.objects.get()
    client.post(f"/saved-views/{view.pk}", {"name": "Broken"})
    client.post(f"/saved-views/{view.pk}", {"is_default": "yes"})
    view.refresh_from_db()
    assert (view.name, view.is_default) == ("Broken", True)
    client.post(f"/saved-views/{view.pk}", {"is_default": "no"})
    assert "Broken" in html(client.get("/saved-views/"))
    assert not SavedView.objects.get().is_default
    said = client.post(f"/saved-views/{view.pk}/remove", follow=True).content.decode()
    assert f'?view=all">The view {view.name}</a> is removed.' in said
    assert "You have saved no view yet" in html(client.get("/saved-views/"))


def test_nobody_sees_or_changes_those_of_others(client_as: Any, people: Any) -> None:
    view = save_view(people["user"], "jobs", "Mine", "state=failed")
    for role in ("other", "administrator"):
        client = client_as(role)
        assert "Mine" not in html(client.get("/jobs/?view=all"))
        assert client.post(f"/saved-views/{view.pk}/remove").status_code == 404
        assert client.patch(f"/api/saved-views/{view.pk}", {"name": "x"}, "application/json").status_code == 404
    assert SavedView.objects.get().name == "Mine"


def test_over_rest_they_are_made_read_changed_and_removed(client_as: Any, people: Any) -> None:
    client = client_as("user")
    body = {"list": "jobs", "name": "Failed", "query": "?state=failed", "is_default": True}
    made = client.post("/api/saved-views", body, "application/json").json()
    assert (made["query"], made["address"], made["is_default"]) == ("state=failed", "/jobs/?state=failed", True)
    assert client.post("/api/saved-views", body, "application/json").status_code == 409
    changed = client.patch(f"/api/saved-views/{made['id']}", {"query": "q=a"}, "application/json").json()
    assert (changed["name"], changed["query"]) == ("Failed", "q=a")
    assert client.get("/api/saved-views?list=audit").json()["count"] == 0
    assert client.get("/api/saved-views?list=jobs").json()["count"] == 1
    assert client.delete(f"/api/saved-views/{made['id']}").status_code == 204


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"list": "job"}, "list is 'job'; accepted is one of jobs"),
        ({"query": "page=3"}, "query is 'page'; accepted is filters of the list jobs: q, state"),
        ({"query": "column=secret"}, "query is 'secret'; accepted is columns of the list jobs: state"),
        ({"name": ""}, "name is empty"),
        ({"whose": 1}, "whose is not known here"),
    ],
)
def test_over_rest_what_cannot_be_is_named(client_as: Any, people: Any, body: dict[str, Any], sentence: str) -> None:
    answer = client_as("user").post("/api/saved-views", {"list": "jobs", "name": "a", **body}, "application/json")
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


def test_names_are_one_persons_and_one_lists(people: Any, monkeypatch: Any) -> None:
    first = save_view(people["user"], "jobs", "Mine", "")
    save_view(people["user"], "people", "Mine", "")
    save_view(people["other"], "jobs", "Mine", "")
    second = save_view(people["user"], "jobs", "Other", "")
    with pytest.raises(ConflictError, match="a view called mine"):
        change_view(second, name="mine")
    change_view(first, name="MINE")
    monkeypatch.setattr(saved_views, "MOST", 2)
    with pytest.raises(ConflictError, match="You have 2 views"):
        save_view(people["user"], "jobs", "Third", "")


def test_a_query_that_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="at most 2000 characters"):
        LISTS["jobs"].read("q=" + "x" * 2000)


def test_every_filter_of_a_form_can_be_kept() -> None:
    from gridportal.accounts.forms import AuditFilterForm
    from scheduling.jobs.filters import JobFilterForm

    assert set(JobFilterForm.base_fields) <= set(LISTS["jobs"].filters)
    assert set(AuditFilterForm.base_fields) == set(LISTS["audit"].filters)
    assert list_pages.same_view("a=1&b=2", "b=2&a=1")
