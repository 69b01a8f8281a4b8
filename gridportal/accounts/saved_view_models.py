"""Views of lists that people save: filters, sort and columns under a name."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from gridportal.accounts.list_pages import LISTS


class SavedView(models.Model):
    """One person's view of one list. `query`: what follows the ? in its address, as `ListPage.kept` writes it."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views", db_index=False)
    list = models.CharField(max_length=40, help_text="Which list it is of.")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True)
    is_default = models.BooleanField(default=False, help_text="The list begins with it.")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("list", "name")
        constraints = [
            models.UniqueConstraint(fields=["owner", "list", "name"], name="saved_view_name_once"),
            models.UniqueConstraint(
                fields=["owner", "list"], condition=Q(is_default=True), name="saved_view_one_default"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The list as this view shows it."""
        page = LISTS[self.list]
        return f"{reverse(page.address)}?{self.query or 'view=all'}"
