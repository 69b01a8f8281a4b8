"""Indexes for "contains" searches, made by migrations: on PostgreSQL by its extension pg_trgm, elsewhere none."""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError, migrations, transaction

log = logging.getLogger(__name__)


def add(name: str, table: str, column: str, condition: str = "TRUE") -> migrations.RunPython:
    """A migration's step: an index for `column__icontains` of three letters or more, over rows that meet `condition`.

    Where the extension is not to be had, searches read every row, which is slower and no less right.
    """

    def forwards(_apps: Any, editor: Any) -> None:
        if editor.connection.vendor != "postgresql":
            return
        try:
            with transaction.atomic(editor.connection.alias):
                editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        except DatabaseError as error:
            log.warning("The index %s is not made, so searches will be slow: %s", name, error)
            return
        expression = f'UPPER("{column}"::text) gin_trgm_ops'
        editor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin ({expression}) WHERE {condition}")
        editor.execute(f"ANALYZE {table}")  # or it is not known how many rows a word finds

    def backwards(_apps: Any, editor: Any) -> None:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"DROP INDEX IF EXISTS {name}")

    return migrations.RunPython(forwards, backwards)
