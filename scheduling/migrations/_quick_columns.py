"""New columns of large tables: SQLite takes one with a constant default at once, where Django copies the whole table."""

from __future__ import annotations

from typing import Any

from django.db import migrations


class AddQuickField(migrations.AddField):
    """AddField for a column that may not be empty. On SQLite the default stays with the column until its table is copied
    for another reason; no row is written with it, since rows name all their columns."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """As AddField does, but for the copy."""
        if schema_editor.connection.vendor != "sqlite":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        field = model._meta.get_field(self.name)
        definition, _ = schema_editor.column_sql(model, field)
        check = field.db_parameters(schema_editor.connection)["check"]
        default = schema_editor.quote_value(schema_editor.effective_default(self.field))
        table, column = schema_editor.quote_name(model._meta.db_table), schema_editor.quote_name(field.column)
        ending = f" CHECK ({check})" if check else ""
        added = f"ALTER TABLE {table} ADD COLUMN {column} {definition} DEFAULT {default}{ending}"
        schema_editor.execute(added, params=None)
