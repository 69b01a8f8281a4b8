from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0021_overrides_become_decisions")]

    operations = [migrations.RemoveField(model_name="placement", name="override")]
