"""Sums of the phases of each run, made of all reports that are there, in a few statements however many there are.

Reports of earlier versions that took more time than there is were left out by whoever read; they go.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

_MOST_SECONDS, _MOST_NAMES, _OTHERS = 3.2e9, 200, "(other phases)"
_UNBELIEVABLE = """
DELETE FROM scheduling_phasereport WHERE seconds > %s OR compute > %s OR communicate > %s
"""
_RENAME = """
UPDATE scheduling_phasereport SET phase = %s
FROM (
    SELECT run_id, phase, ROW_NUMBER() OVER (PARTITION BY run_id ORDER BY MIN(id)) AS place
    FROM scheduling_phasereport GROUP BY run_id, phase
) AS named
WHERE named.place > %s AND named.run_id = scheduling_phasereport.run_id AND named.phase = scheduling_phasereport.phase
"""
_COUNT = """
UPDATE scheduling_phasereport SET number = counted.number
FROM (
    SELECT id, ROW_NUMBER() OVER (PARTITION BY run_id, phase ORDER BY id) - 1 AS number FROM scheduling_phasereport
) AS counted
WHERE counted.number > 0 AND counted.id = scheduling_phasereport.id
"""
_ADD = """
INSERT INTO scheduling_phasetotal (
    run_id, phase, count, seconds, seconds_carry, "least", "most",
    compute, compute_carry, communicate, communicate_carry, iteration, "of"
)
SELECT run_id, phase, COUNT(*), SUM(seconds), 0, MIN(seconds), MAX(seconds),
    SUM(compute), 0, SUM(communicate), 0, MAX(iteration), MAX("of")
FROM scheduling_phasereport GROUP BY run_id, phase ORDER BY run_id, MIN(id)
"""


def add_up(apps: Any, editor: Any) -> None:
    """The rows of PhaseTotal, and the place of each report among those of its phase."""
    with editor.connection.cursor() as cursor:
        cursor.execute(_UNBELIEVABLE, [_MOST_SECONDS] * 3)
        cursor.execute(_RENAME, [_OTHERS, _MOST_NAMES])
        cursor.execute(_COUNT)
        cursor.execute(_ADD)


class Migration(migrations.Migration):

    dependencies = [
        ('scheduling', '0024_problems_as_values'),
    ]

    operations = [
        migrations.AddField(
            model_name='phasereport',
            name='number',
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.CreateModel(
            name='PhaseTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phase', models.CharField(max_length=60)),
                ('count', models.PositiveBigIntegerField()),
                ('seconds', models.FloatField()),
                ('seconds_carry', models.FloatField(default=0.0)),
                ('least', models.FloatField()),
                ('most', models.FloatField()),
                ('compute', models.FloatField(blank=True, null=True)),
                ('compute_carry', models.FloatField(default=0.0)),
                ('communicate', models.FloatField(blank=True, null=True)),
                ('communicate_carry', models.FloatField(default=0.0)),
                ('iteration', models.PositiveIntegerField(blank=True, null=True)),
                ('of', models.PositiveIntegerField(blank=True, null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phase_totals', to='scheduling.run')),
            ],
            options={
                'ordering': ('pk',),
                'constraints': [models.UniqueConstraint(fields=('run', 'phase'), name='phase_once_per_run')],
            },
        ),
        migrations.RunPython(add_up, migrations.RunPython.noop),
    ]
