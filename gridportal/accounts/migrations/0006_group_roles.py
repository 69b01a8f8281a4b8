import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("auth", "0012_alter_user_first_name_max_length"), ("accounts", "0005_saved_views")]

    operations = [
        migrations.CreateModel(
            name="GroupRole",
            fields=[
                (
                    "group",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="given",
                        serialize=False,
                        to="auth.group",
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("operator", "operator"), ("manager", "manager"), ("user", "user")], max_length=20
                    ),
                ),
            ],
        ),
    ]
