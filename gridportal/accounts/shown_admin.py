"""Forms of Django's administration that say which version of a row they showed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.forms import UserChangeForm
from django.forms import Field
from django.http import HttpRequest, QueryDict

from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, compare_shown
from gridportal.accounts.models import User
from gridportal.web.shown_version import SHOWN_VERSION, version_of

if TYPE_CHECKING:  # as the program runs, Django's classes take no types
    _PersonForm = UserChangeForm[User]
else:
    _PersonForm = UserChangeForm


class ShownPersonForm(_PersonForm):
    """A person as a form; its page gives it the request, and writes `shown_version` into a hidden field."""

    request: HttpRequest
    is_conflict = False

    @property
    def shown_version(self) -> str:
        """Of which version it shows the values: the one of now, or the one that was sent."""
        sent = self.data.get(SHOWN_VERSION)
        return str(sent) if sent else version_of(self._now())

    def clean(self) -> Any:
        """Nothing is saved where somebody has changed the person since; saved again, it is."""
        cleaned = super().clean()
        if self.instance.pk:
            try:
                events = changes_of(self.instance, "person.change", "person.set_role")
                compare_shown(self.request, self._now(), events)
            except ChangedMeanwhileError as error:
                self.is_conflict = True
                self.add_error(None, str(error))
                data = self.data.copy() if isinstance(self.data, QueryDict) else QueryDict(mutable=True)
                data[SHOWN_VERSION] = version_of(error.now)
                self.data = data
        return cleaned

    def _now(self) -> dict[str, Any]:
        """What the fields show of the row as it is kept."""
        row = User.objects.get(pk=self.instance.pk)
        fields: dict[str, Field] = self.fields
        names = [name for name in fields if name not in ("password", "groups") and hasattr(row, name)]
        values = {name: getattr(row, name) for name in names}
        return values | {"groups": sorted(row.groups.values_list("name", flat=True))}
