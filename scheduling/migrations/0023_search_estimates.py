from django.db import migrations

from gridportal import search_index


class Migration(migrations.Migration):
    """How many names of jobs have a word."""

    dependencies = [("scheduling", "0022_no_override")]

    operations = [search_index.estimate("job_words", "scheduling_job", "name")]
