"""The people, groups and applications of a log, made when its first job names them."""

from __future__ import annotations

from django.contrib.auth.models import Group
from django.db.models import QuerySet

from gridportal.accounts.models import User
from scheduling.jobs.models import Application

#: So many programs of a log become applications of their own; the jobs of all others share one.
MOST_PROGRAMS = 200


class LogOwners:
    """Who and what the numbers of one log stand for. People cannot sign in, and nobody can submit the programs."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._people = dict(_keys(User.objects.filter(username__startswith=f"{cluster}-u"), "username"))
        self._programs = dict(_keys(Application.objects.filter(slug__startswith=f"{cluster}-p"), "slug"))
        self._members: set[tuple[int, int]] = set()

    def person(self, number: int, group: int) -> int:
        """The key of a person, who is in this group."""
        name = f"{self._cluster}-u{number if number > 0 else 'nknown'}"
        if name not in self._people:
            self._people[name] = self._made_person(name)
        if group > 0 and (self._people[name], group) not in self._members:
            self._members.add((self._people[name], group))
            made, _ = Group.objects.get_or_create(name=f"{self._cluster}-g{group}")
            made.user_set.add(self._people[name])
        return self._people[name]

    def _made_person(self, name: str) -> int:
        person = User(username=name, is_active=False, from_log=self._cluster)
        person.set_unusable_password()
        person.save()
        return person.pk

    def program(self, number: int) -> int:
        """The key of an application."""
        slug = f"{self._cluster}-p{number}" if number > 0 else f"{self._cluster}-program"
        if slug not in self._programs and len(self._programs) >= MOST_PROGRAMS:
            slug = f"{self._cluster}-others"
        if slug not in self._programs:
            self._programs[slug] = self._made(slug, number)
        return self._programs[slug]

    def _made(self, slug: str, number: int) -> int:
        words = {f"{self._cluster}-others": "Other programs", f"{self._cluster}-program": "Unknown program"}
        name = f"{words.get(slug, f'Program {number}')} of {self._cluster}"
        values = {"name": name, "description": f"From the log of {self._cluster}", "command": [], "enabled": False}
        return Application.objects.get_or_create(slug=slug, defaults=values)[0].pk


def has_namesakes(cluster: str) -> bool:
    """Whether people, groups or applications of the portal have names that the log of this cluster would give."""
    return (
        User.objects.filter(username__startswith=f"{cluster}-u").exists()
        or Group.objects.filter(name__startswith=f"{cluster}-g").exists()
        or Application.objects.filter(slug__startswith=f"{cluster}-").exists()
    )


def _keys(rows: QuerySet[User] | QuerySet[Application], column: str) -> list[tuple[str, int]]:
    return [(name, pk) for name, pk in rows.values_list(column, "pk")]
