"""Jobs that were cancelled before they started are in no sum of use but one of their own: all are counted anew."""

from importlib import import_module
from typing import Any

from django.db import migrations

forget_days = import_module("scheduling.migrations.0061_packed_counts").forget


def forget(apps: Any, editor: Any) -> None:
    """As before the first job was counted."""
    forget_days(apps, editor)
    apps.get_model("scheduling", "PersonUse").objects.all()._raw_delete("default")


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0070_weighing_requests")]

    operations = [migrations.RunPython(forget, forget)]
