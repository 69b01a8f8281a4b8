"""The tabs of the report, and who may open each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gridportal.accounts.models import User
from scheduling.reports.budget_tables import budget_sections
from scheduling.reports.core.report_file_names import file_name
from scheduling.reports.fate_tables import fate_sections
from scheduling.reports.outcome_tables import move_sections, network_sections, slowdown_sections
from scheduling.reports.report_section import Section
from scheduling.reports.use_tables import people_sections, place_sections, program_sections
from scheduling.usage.ranges import Range


class Tab(NamedTuple):
    """Its name for people and of its files, what it shows of a time to a person; whether plain users may see it, of
    their own jobs alone; and whether it has tables of use, with columns to choose among."""

    label: str
    file: str
    sections: Callable[[User, Range], list[Section]]
    is_own: bool = False
    has_use: bool = False

    def is_seen_by(self, person: User) -> bool:
        """Whether this person may open it."""
        return self.is_own or person.has_perm("scheduling.view_all_jobs")


TABS = {
    "people": Tab("People and time", "usage-by-person", people_sections, is_own=True, has_use=True),
    "programs": Tab("Applications and sizes", "usage-by-application", program_sections, is_own=True, has_use=True),
    "places": Tab("Clusters, sites, nodes", "usage-by-cluster", place_sections, is_own=True, has_use=True),
    "waiting": Tab("Waiting and failures", "waiting-and-failures", fate_sections, is_own=True),
    "budgets": Tab("Budgets", "budgets", budget_sections, is_own=True),
    "network": Tab("Links", "links", network_sections),
    "slowdown": Tab("Slowdown", "slowdown", slowdown_sections),
    "moves": Tab("Moves", "moves", move_sections),
}


#: The name of a file with several of them.
ALL_TABS = "usage-report"


def file_of(what: str, span: Range, ending: str) -> str:
    """The name of a file about this time."""
    return file_name(what, span.begin, span.until, ending, in_days=span.is_in_days)


def seen_by(person: User) -> dict[str, Tab]:
    """The tabs that this person may open."""
    return {name: tab for name, tab in TABS.items() if tab.is_seen_by(person)}
