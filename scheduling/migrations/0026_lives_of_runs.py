"""Room for what runs have a state for from now on; states of jobs are checked again once they are carried over."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0025_phase_totals")]

    operations = [
        migrations.RemoveConstraint(model_name="job", name="job_state_known"),
        migrations.AddField(
            model_name="jobevent",
            name="run_number",
            field=models.PositiveSmallIntegerField(blank=True, help_text="Of the run that took the step.", null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="state_since",
            field=models.DateTimeField(
                default=django.utils.timezone.now, help_text="When the portal saw it enter this state."
            ),
        ),
    ]
