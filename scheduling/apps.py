from django.apps import AppConfig


class SchedulingConfig(AppConfig):
    name = "scheduling"

    def ready(self) -> None:
        """Make our Celery application the current one, so that `delay` in every process goes to our broker."""
        import gridportal.celery  # noqa: F401
