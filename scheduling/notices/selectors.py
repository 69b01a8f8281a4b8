"""Reading notices and what people want to be told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.notices.core.notice_kinds import Channel, JobChoice, NoticeKind
from scheduling.notices.models import Delivery, JobNotices, Notice, NoticeSettings

#: E-mails and webhooks of one person in an hour: what goes beyond stands on the page alone.
MOST_AN_HOUR = 60


def settings_of(person: User) -> NoticeSettings:
    """What a person wants to be told; the usual, not saved, where nothing was chosen."""
    return NoticeSettings.objects.filter(person=person).first() or NoticeSettings(person=person)


def on_page(person: User, kind: str = "") -> QuerySet[Notice]:
    """What a person's page shows, the newest first; of one kind."""
    rows = Notice.objects.filter(person=person, on_page=True).order_by("-pk")
    return rows.filter(kind=kind) if kind else rows


def unread(person: User) -> int:
    """How many of these the person has not read."""
    return Notice.objects.filter(person=person, on_page=True, read_at=None).count()


def choice_of(person: User, job: Job) -> JobChoice:
    """What a person wants to hear of one job."""
    chosen = JobNotices.objects.filter(person=person, job=job).values_list("choice", flat=True).first()
    return JobChoice(chosen) if chosen else JobChoice.USUAL


def listeners(job: Job) -> list[tuple[User, JobChoice]]:
    """Who may be told of a job: its owner, and who asked to hear of it and may see it."""
    chosen = {row.person_id: JobChoice(row.choice) for row in JobNotices.objects.filter(job=job)}
    followers = [pk for pk, choice in chosen.items() if choice is JobChoice.ALL]
    people = User.objects.filter(Q(pk=job.owner_id) | Q(pk__in=followers), is_active=True).order_by("pk")
    found = [(each, chosen.get(each.pk, JobChoice.USUAL)) for each in people]
    return [(each, choice) for each, choice in found if each.has_perm("scheduling.view_job", job)]


def deciders() -> Iterable[User]:
    """Who may decide on moves."""
    rows = User.objects.filter(Q(groups__name="operator") | Q(is_superuser=True), is_active=True)
    return rows.distinct().order_by("pk")


def budget_people(project: Project) -> Iterable[User]:
    """Who is told of a project's budget: its members, and who may change it."""
    may_change = Q(groups__name="manager") | Q(is_superuser=True)
    return User.objects.filter(Q(projects=project) | may_change, is_active=True).distinct().order_by("pk")


def channels(person: User, kind: NoticeKind, choice: JobChoice) -> set[Channel]:
    """By which ways a person is told of this now."""
    if choice is JobChoice.NONE:
        return set()
    wanted = settings_of(person)
    lists = {Channel.PAGE: wanted.page, Channel.EMAIL: wanted.email, Channel.WEBHOOK: wanted.webhook}
    has_address = {
        Channel.PAGE: True,
        Channel.EMAIL: bool(wanted.mail_address),
        Channel.WEBHOOK: bool(wanted.webhook_url),
    }
    everything = choice is JobChoice.ALL or kind is NoticeKind.TEST
    asked = {channel for channel, kinds in lists.items() if everything or kind in kinds}
    return {each for each in asked if has_address[each] and (each is Channel.PAGE or not _too_many(person, each))}


def _too_many(person: User, channel: Channel) -> bool:
    since = timezone.now() - timedelta(hours=1)
    rows = Delivery.objects.filter(notice__person=person, channel=channel, notice__created_at__gte=since)
    return rows.count() >= MOST_AN_HOUR
