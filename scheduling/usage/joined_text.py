"""The texts of many rows joined by the database."""

from __future__ import annotations

from typing import Any

from django.db.models import Aggregate, TextField


class JoinedText(Aggregate):
    """All texts of a group one behind the other, in no order; empty ones add nothing."""

    function = "GROUP_CONCAT"
    template = "%(function)s(%(expressions)s, '')"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """The same aggregate has another name there."""
        return super().as_sql(compiler, connection, function="STRING_AGG", **context)
