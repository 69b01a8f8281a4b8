"""Columns of a placement give values, whatever wrote them; parts of them are plain JSON."""

from __future__ import annotations

import pytest
from django.core import serializers
from django.db.models import F

from scheduling.jobs.core.candidates import Bottleneck, Objective, RankPair
from scheduling.placing.models import Placement
from scheduling.skeletons.core.trial_record import Outcome, Trial

pytestmark = pytest.mark.django_db
SLOWEST = Bottleneck(RankPair((0, 1), "n1", "n2", 8e7, 1.0, link=("n1", "s1")))


@pytest.fixture
def placement(people, make_job):
    placement = make_job(people["user"], "running").placements.get()
    placement.bottleneck, placement.trial = SLOWEST, Trial(outcome=Outcome(spent=4.5, won=2.0))
    placement.save()
    return placement


def test_what_is_written_comes_back(placement):
    kept = Placement.objects.get(pk=placement.pk)
    assert (kept.objective, kept.bottleneck) == (Objective(80e6, 1.0), SLOWEST)
    assert kept.trial == placement.trial


def test_documents_can_be_written_and_null_is_none(placement):
    Placement.objects.update(trial={"spent": 1.0}, bottleneck=SLOWEST.document(), objective={})
    kept = Placement.objects.get(pk=placement.pk)
    assert (kept.trial, kept.bottleneck, kept.objective) == (Trial(outcome=Outcome(spent=1.0)), SLOWEST, Objective())
    Placement.objects.update(trial=None, bottleneck=None)
    kept.refresh_from_db()
    assert (kept.trial, kept.bottleneck) == (None, None)


def test_parts_of_a_value_are_plain_json(placement):
    figures = Placement.objects.filter(trial__spent__gt=4).values_list(F("trial__spent"), "objective__min_cpu")
    assert figures.get() == (4.5, 1.0)
    assert not Placement.objects.filter(trial__taken__isnull=False).exists()


def test_values_go_through_a_dump_of_the_tables(placement):
    (read,) = serializers.deserialize("json", serializers.serialize("json", [placement]))
    assert read.object.trial == placement.trial
    assert read.object.bottleneck == SLOWEST
    assert read.object.candidates[0].nodes == placement.candidates[0].nodes


def test_a_placement_that_was_not_tried_has_no_plan(placement):
    with pytest.raises(ValueError, match="no trial that was planned"):
        _ = placement.plan
