from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0019_experiments_leave")]

    operations = [
        migrations.CreateModel(
            name="Decision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(choices=[("operator", "operator")], default="operator", max_length=12)),
                (
                    "by",
                    models.CharField(
                        help_text="The name of who decided; it stays when the person is gone.", max_length=150
                    ),
                ),
                ("at", models.DateTimeField()),
                ("why", models.TextField(help_text="In their own words.")),
                ("candidate", models.PositiveSmallIntegerField()),
                ("proposed", models.JSONField(default=list)),
                ("taken", models.JSONField(default=list)),
                (
                    "job",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="decisions", to="scheduling.job"),
                ),
            ],
            options={"ordering": ("pk",)},
        ),
        migrations.AddField(
            model_name="placement",
            name="decision",
            field=models.ForeignKey(
                blank=True,
                help_text="By whom another candidate was taken, or is to be.",
                null=True,
                on_delete=models.SET_NULL,
                related_name="placements",
                to="scheduling.decision",
            ),
        ),
    ]
