"""Skeletons in the portal: built from traced profiles, found for just these parameters, stale with their program."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling import tasks
from scheduling.messages import message
from scheduling.profiles.core import profile, trace
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.skeletons.core.best_prediction import BestPrediction
from scheduling.skeletons.models import Skeleton
from scheduling.skeletons.services import stored_skeletons
from tests.markup import markup
from tests.scheduling.placing.trial_grid import keep_skeleton
from tests.scheduling.skeletons.core.skeleton import programs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def known_rate(monkeypatch):
    """To measure it takes a fifth of a second of a processor."""
    monkeypatch.setattr(stored_skeletons.skeleton_runs, "rate", lambda: 1e5)


def traced_profile(application, bodies=None, **parameters):
    found = trace.parse(programs.trace(bodies or programs.ring(4, 100)))
    return stored_profiles.keep(application, parameters, profile.of_trace(found), traced=found)


def test_a_traced_profile_gets_its_skeleton_by_itself_and_once(application):
    row = traced_profile(application)
    tasks.build_skeletons()
    tasks.build_skeletons()
    made = Skeleton.objects.get()
    assert (made.profile, made.ranks, made.seconds, made.problem) == (row, 4, 1.0, NOTHING)
    assert made.target == stored_skeletons.usual_target(1.0) == 0.05
    assert made.document["expected"] == made.expected < made.seconds


def test_nothing_is_built_by_itself_where_that_is_switched_off(application, settings):
    traced_profile(application)
    settings.PORTAL = settings.PORTAL.model_copy(update={"skeleton_auto": False})
    assert stored_skeletons.build_due() == 0


def test_a_program_that_exchanges_nothing_has_none_and_the_reason_is_kept(application, client_as):
    work = [[{"call": "MPI_Comm_rank", "compute": {"n": 1, "mean": 1.0, "var": 0.0, "cpu": 1.0}}]] * 2
    traced_profile(application, work)
    tasks.build_skeletons()
    made = Skeleton.objects.get()
    assert made.document is None
    assert made.problem.code is Code.SKELETON_NOT_BUILT
    assert "sends no messages" in message(made.problem)
    assert stored_skeletons.best(application, {}, 2) is None
    assert "sends no messages" in markup(client_as("user").get("/applications/ep/profile"))
    assert client_as("user").get(f"/applications/ep/skeletons/{made.pk}.json").status_code == 404


def test_a_trace_that_is_gone_is_told_and_not_looked_for_again(application):
    row = traced_profile(application)
    Profile.objects.filter(pk=row.pk).update(trace_file="/nowhere/trace.json.gz")
    stored_skeletons.build_due()
    assert "/nowhere/trace.json.gz" in message(Skeleton.objects.get().problem)
    assert not stored_skeletons.due().exists()


def test_a_surprise_while_one_is_built_is_told_and_holds_up_no_other(application, monkeypatch, caplog):
    first, second = traced_profile(application), traced_profile(application, klass="W")
    whole = stored_skeletons.build_skeleton

    def surprised(trace, *, target):
        if caplog.records or Skeleton.objects.exists():
            return whole(trace, target=target)
        raise KeyError("comm 7")

    monkeypatch.setattr(stored_skeletons, "build_skeleton", surprised)
    assert stored_skeletons.build_due() == 1
    problems = {made.profile_id: message(made.problem) for made in Skeleton.objects.all()}
    assert sorted(problems.values()) == ["", "Building it failed with KeyError; the portal's log says more."]
    assert set(problems) == {first.pk, second.pk}
    assert "comm 7" in caplog.text
    assert not stored_skeletons.due().exists()


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan"), float("inf")])
def test_a_target_is_a_number_of_seconds(application, target):
    with pytest.raises(InputError, match="seconds above 0"):
        stored_skeletons.build(traced_profile(application), target)


def test_only_a_skeleton_of_just_these_parameters_is_used(application):
    made, _ = stored_skeletons.build(traced_profile(application, klass="W"))
    assert stored_skeletons.best(application, {"klass": "W"}, 4) == made
    assert stored_skeletons.best(application, {"klass": "A"}, 4) is None
    assert stored_skeletons.best(application, {"klass": "W"}, 8) is None


def test_of_two_of_the_same_parameters_the_page_says_which_one_is_used(application, client_as):
    row = traced_profile(application, klass="W")
    (old, _), (other, _) = stored_skeletons.build(row), stored_skeletons.build(traced_profile(application, klass="A"))
    assert stored_skeletons.replaced([other, old]) == set()
    new, _ = stored_skeletons.build(row, 0.5)
    assert stored_skeletons.best(application, {"klass": "W"}, 4) == new
    assert stored_skeletons.replaced(stored_skeletons.skeletons_of(application)) == {old.pk}
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert (page.count("a newer one is used"), page.count("✓ in use")) == (1, 2)


def test_a_skeleton_is_not_used_once_the_program_starts_in_another_way(application):
    made, _ = stored_skeletons.build(traced_profile(application))
    application.environment = {"OTHER": "1"}
    application.save()
    made.refresh_from_db()
    assert stored_skeletons.is_stale(made)
    assert stored_skeletons.best_figures(application, {}, 4) is None


def test_an_equal_one_is_given_back_where_it_is_the_one_that_jobs_take(application, client_as):
    row = traced_profile(application)
    body, client = {"profile": row.pk, "seconds": 0.2}, client_as("operator")
    answers = [client.post("/api/applications/ep/skeletons", body, "application/json") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json() == answers[1].json()
    usual = markup(client.post("/applications/ep/skeletons/build", {"profile": row.pk}, follow=True))
    assert "is built for NAS EP" in usual
    again = markup(client.post("/applications/ep/skeletons/build", {"profile": row.pk}, follow=True))
    assert "is there already, of the same profile; none was built." in again
    assert Skeleton.objects.count() == 2
    made, is_new = stored_skeletons.build(row, 0.2)
    assert is_new  # jobs take the one of the usual time since
    assert stored_skeletons.best(application, {}, 4) == made


def test_one_that_another_player_would_play_or_that_failed_is_built_again(application):
    row = traced_profile(application)
    made, _ = stored_skeletons.build(row)
    for change in (
        {"player": Reason.of(Code.PLAYED_BY_PORTAL, error="no compiler")},
        {"document": None, "problem": Reason.of(Code.SKELETON_BUILD_FAILED, error="KeyError")},
    ):
        Skeleton.objects.filter(pk=made.pk).update(**change)
        made, is_new = stored_skeletons.build(row)
        assert is_new
    assert stored_skeletons.build(row) == (made, False)


def test_the_least_prediction_is_remembered(application):
    row = keep_skeleton(application)
    for predicted in (9.0, 7.0, 8.0):
        row.refresh_from_db()
        stored_skeletons.remember(row, BestPrediction(predicted, nodes=("n1", "n2")))
    row.refresh_from_db()
    assert row.reference == BestPrediction(7.0, nodes=("n1", "n2"))


def test_operators_build_one_over_the_api_and_it_is_listed(application, client_as):
    row = traced_profile(application)
    client = client_as("operator")
    answer = client.post("/api/applications/ep/skeletons", {"profile": row.pk, "seconds": 0.2}, "application/json")
    assert (answer.status_code, answer.json()["target"]) == (201, 0.2)
    listed = client.get("/api/applications/ep/skeletons").json()
    assert [(one["stale"], one["problem"], one["reference"]) for one in listed] == [(False, "", None)]
    best = BestPrediction(7.0, 0.5, ("n1", "n2"), "grid", "2026-11-23T14:05:00+00:00")
    Skeleton.objects.update(problem=Reason.of(Code.SKELETON_BUILD_FAILED, error="KeyError"), reference=best)
    (listed_later,) = client.get("/api/applications/ep/skeletons").json()
    assert listed_later["problem"] == "Building it failed with KeyError; the portal's log says more."
    assert listed_later["reference"] == {
        **{"predicted": 7.0, "seconds": 0.5, "nodes": ["n1", "n2"], "cluster": "grid"},
        "at": "2026-11-23T14:05:00+00:00",
    }
    assert client.get(listed[0]["file"]).json()["ranks"] == 4
