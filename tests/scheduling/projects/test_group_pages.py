"""Groups of people: pages and REST for administrators; members, projects, and what a group gives."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from gridportal.accounts import people_groups
from gridportal.accounts.models import AuditEvent, User
from gridportal.accounts.people_groups import give_group_role, make_group
from gridportal.base.errors import InputError
from scheduling.jobs.project_models import Project
from scheduling.jobs.share_models import JobShare
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def physics(people: Any) -> Group:
    group = make_group(people["administrator"], "physics")
    group.user_set.add(people["user"])
    return group


def role_of(name: str) -> str:
    return User.objects.get(username=name).role


def test_a_group_is_made_filled_and_emptied_again(client_as: Any, people: Any) -> None:
    client = client_as("administrator")
    page = client.post("/groups/new", {"name": " physics "}, follow=True)
    group = Group.objects.get(name="physics")
    assert "Nobody is in it." in markup(page)
    client.post(f"/groups/{group.pk}/members", {"members": "user, other"})
    assert set(group.user_set.values_list("username", flat=True)) == {"user", "other"}
    page = markup(client.post(f"/groups/{group.pk}/members/{people['other'].pk}/drop", follow=True))
    assert "has other no more." in page
    assert "1 person." in page
    assert "physics" in markup(client.get("/groups/"))
    joined = AuditEvent.objects.filter(action="person.join_group", actor_name="administrator")
    assert [event.detail for event in joined] == [{"group": "physics"}] * 2


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Enter a name."),
        ("PHYSICS", "Enter a name that no other group and no role has."),
        ("Operator", "Enter a name that no other group and no role has."),
        ("-1", "Enter a name that begins with a letter, a digit or _"),
        ("-x", "Enter a name that begins with a letter, a digit or _"),
        ("−1", "Enter a name that begins with a letter, a digit or _"),
        ("\u3164", "Enter a name"),
        ("Other", "Enter a name that no person has."),
    ],
)
def test_a_name_that_cannot_be_is_refused_beside_its_field(
    client_as: Any, physics: Group, name: str, sentence: str
) -> None:
    answer = client_as("administrator").post("/groups/new", {"name": name})
    assert answer.status_code == 422
    assert sentence in markup(answer)


def test_an_unknown_name_puts_nobody_in(client_as: Any, physics: Group) -> None:
    answer = client_as("administrator").post(f"/groups/{physics.pk}/members", {"members": "other nobody"})
    assert "Enter names of people who have an account." in markup(answer)
    assert physics.user_set.count() == 1


def test_whoever_is_in_the_group_has_its_role_and_loses_it_with_the_group(client_as: Any, physics: Group) -> None:
    client = client_as("administrator")
    assert client_as("user").get("/audit/").status_code == 403
    client.post(f"/groups/{physics.pk}/role", {"role": "operator"})
    assert role_of("user") == "operator"
    assert client_as("user").get("/audit/").status_code == 200
    assert "operator by the group physics" in markup(client.get("/people/?view=all"))
    page = client.post(f"/people/{User.objects.get(username='user').pk}/role", {"role": "manager"}, follow=True)
    assert "It stays operator by the group physics." in markup(page)
    client.post(f"/groups/{physics.pk}/role", {"role": ""})
    assert role_of("user") == "manager"


def test_a_higher_role_of_the_person_stays(people: Any, physics: Group) -> None:
    physics.user_set.add(people["operator"], people["administrator"])
    give_group_role(people["administrator"], physics, "user")
    assert [role_of(name) for name in ("operator", "administrator", "user")] == ["operator", "administrator", "user"]


def test_no_group_makes_administrators(people: Any, physics: Group) -> None:
    with pytest.raises(InputError, match="empty, or one of operator"):
        give_group_role(people["administrator"], physics, "administrator")


def test_a_group_gives_rights_on_moves(client_as: Any, physics: Group) -> None:
    client, address = client_as("administrator"), f"/groups/{physics.pk}/permissions"
    assert "Modes and windows" not in markup(client_as("user").get("/migrations/"))
    client.post(address, {"permission": ["view_moves", "approve_move"]})
    assert User.objects.get(username="user").has_perm("scheduling.approve_move")
    assert "Modes and windows" in markup(client_as("user").get("/migrations/"))
    assert "add_movedecision" in markup(client.post(address, {"permission": "add_movedecision"}, follow=True))
    client.post(address, {})
    assert "Modes and windows" not in markup(client_as("user").get("/migrations/"))


def test_all_members_come_to_a_project(client_as: Any, people: Any, physics: Group) -> None:
    ocean = Project.objects.create(name="ocean", description="Waves")
    ocean.members.add(people["other"])
    page = markup(client_as("administrator").post(f"/groups/{physics.pk}/project", {"project": "ocean"}, follow=True))
    assert ocean.member_names == ["other", "user"]
    assert '<td class="num">1</td><td class="num">2</td>' in page
    refused = client_as("administrator").post(f"/groups/{physics.pk}/project", {"project": "sea"})
    assert refused.status_code == 422


def test_it_is_renamed_and_removed_with_what_was_shared_with_it(
    client_as: Any, people: Any, physics: Group, make_job: Any
) -> None:
    job, client = make_job(people["other"], "running"), client_as("administrator")
    JobShare.objects.create(job=job, group=physics, made_by=people["other"])
    assert client_as("user").get(f"/jobs/{job.pk}/").status_code == 200
    client.post(f"/groups/{physics.pk}/name", {"name": "Physics 2"})
    assert "1 job and 0 programs are shared with it no more." in markup(client.get(f"/groups/{physics.pk}/"))
    client.post(f"/groups/{physics.pk}/remove")
    assert not Group.objects.filter(pk=physics.pk).exists()
    assert client_as("user").get(f"/jobs/{job.pk}/").status_code == 404
    assert "removed the group Physics 2" in markup(client.get("/audit/?view=all"))


def test_what_single_sign_on_fills_says_so_and_stays(client_as: Any, physics: Group, settings: Any) -> None:
    portal = settings.PORTAL
    settings.PORTAL = portal.model_copy(update={"oidc_name": "Campus", "oidc_groups": {"phys-dept": "physics"}})
    client = client_as("administrator")
    assert "Campus fills it: people who sign in there and are in the group phys-dept" in markup(
        client.get(f"/groups/{physics.pk}/")
    )
    assert "change GRIDPORTAL_OIDC_GROUPS first" in markup(client.post(f"/groups/{physics.pk}/remove", follow=True))
    assert "change GRIDPORTAL_OIDC_GROUPS first" in markup(
        client.post(f"/groups/{physics.pk}/name", {"name": "other name"})
    )
    assert Group.objects.get(pk=physics.pk).name == "physics"


def test_the_roles_themselves_are_no_groups_here(client_as: Any, people: Any) -> None:
    operators = Group.objects.get(name="operator")
    assert client_as("administrator").get(f"/groups/{operators.pk}/").status_code == 404
    assert not people_groups.people_groups()


def test_over_rest(client_as: Any, people: Any) -> None:
    client = client_as("administrator")
    body = {"name": "ops", "role": "operator", "members": ["user"], "permissions": ["view_moves"]}
    made = client.post("/api/groups", body, "application/json").json()
    assert made == {"id": made["id"], **body}
    changed = client.patch(f"/api/groups/{made['id']}", {"members": ["other"], "role": ""}, "application/json").json()
    assert (changed["members"], changed["role"], changed["permissions"]) == (["other"], "", ["view_moves"])
    refused = client.post("/api/groups", {"name": "more", "members": ["nobody"]}, "application/json")
    assert refused.status_code == 400
    assert "members is 'nobody'; accepted is names of people who have an account." in refused.content.decode()
    assert not Group.objects.filter(name="more").exists()
    assert client.delete(f"/api/groups/{made['id']}").status_code == 204
