"""Add up what the jobs that are there have used. A batch is a transaction, so it can be broken off and goes on."""

from typing import Any

from django.db import migrations

from scheduling.usage.services.counting_use import Tables, count_use


def count(apps: Any, _editor: Any) -> None:
    count_use(tables=Tables(*(apps.get_model("scheduling", name) for name in Tables._fields)))


class Migration(migrations.Migration):

    atomic = False
    dependencies = [("scheduling", "0016_daily_use")]
    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
