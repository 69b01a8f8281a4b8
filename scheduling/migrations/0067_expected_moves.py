"""What a move was expected to take, phase by phase, beside what it took."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0066_people_of_logs")]
    operations = [
        migrations.AddField(
            model_name="continuation",
            name="expected",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="Seconds that each phase was expected to take; null: nobody knew; empty: nobody asked.",
            ),
        )
    ]
