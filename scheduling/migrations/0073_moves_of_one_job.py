"""Each cluster says how often one job is moved at most; so far that was a constant."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0072_why_no_move")]

    operations = [
        migrations.AddField(
            model_name="reschedulingpolicy",
            name="most_per_job",
            field=models.PositiveSmallIntegerField(default=10),
        ),
    ]
