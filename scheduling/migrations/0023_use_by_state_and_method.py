"""Sums of use by state and method. Those that are there are forgotten, and beat counts all jobs anew within minutes.

An empty table changes at once, however many jobs there are; until jobs are counted, reports read their runs.
"""

from typing import Any

from django.conf import settings
from django.db import migrations, models


def forget(apps: Any, _editor: Any) -> None:
    """As before the first job was counted. The mark comes first: who counts at this moment ends before."""
    marks = apps.get_model("scheduling", "UseMark").objects
    marks.update(through=0, version=models.F("version") + 1)
    for name in ("DailyUse", "UncountedJob"):
        apps.get_model("scheduling", name).objects.all()._raw_delete("default")


class Migration(migrations.Migration):

    dependencies = [
        ('scheduling', '0022_no_override'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveConstraint(
            model_name='dailyuse',
            name='daily_use_of_owner',
        ),
        migrations.RemoveConstraint(
            model_name='dailyuse',
            name='daily_use_of_all',
        ),
        migrations.AddField(
            model_name='dailyuse',
            name='method',
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name='dailyuse',
            name='state',
            field=models.CharField(blank=True, help_text='A final one; empty: any, by any method.', max_length=12),
        ),
        migrations.AddConstraint(
            model_name='dailyuse',
            constraint=models.UniqueConstraint(fields=('owner', 'state', 'method', 'day', 'cluster', 'application'), name='daily_use_of_owner'),
        ),
        migrations.AddConstraint(
            model_name='dailyuse',
            constraint=models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('state', 'method', 'day', 'cluster', 'application'), name='daily_use_of_all'),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget),  # on the way back it comes first
    ]
