"""Contracts of runs, their calls to the rescheduler, and how well each model foretold them."""

from __future__ import annotations

from django.db import models

from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.monitor import Monitor
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.outlook import Standing
from scheduling.performance.core.phase_prediction import Prediction


class Contract(models.Model):
    """What a run was promised, and how that stands. Only `contracts.services` writes it.

    promised: a `Prediction`, none while the first iterations are still awaited, which then become the promise; others:
    the predictions of other models, to be compared once the run is over. monitor: a `MonitorState`. standings: the last
    standings with their times, the newest last. problems: models that failed, with what they said.
    """

    run = models.OneToOneField("scheduling.Run", on_delete=models.CASCADE, related_name="contract")
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    promised = models.JSONField(null=True, blank=True)
    others = models.JSONField(default=list, blank=True)
    problems = models.JSONField(default=list, blank=True)
    lower = models.FloatField(default=0.7)
    upper = models.FloatField(default=2.0)
    monitor = models.JSONField(default=dict, blank=True)
    first_reports = models.JSONField(default=dict, blank=True, help_text="Seconds by phase, until there is a promise.")
    standing = models.CharField(max_length=12, default=Standing.WAITING, choices=[(s.value, s.value) for s in Standing])
    standing_since = models.DateTimeField(null=True, blank=True)
    standings = models.JSONField(default=list, blank=True)
    read_offset = models.BigIntegerField(default=0, help_text="Bytes of the progress file or log that were judged.")
    log_position = models.JSONField(default=dict, blank=True, help_text="The last step that its log told, and when.")
    version = models.PositiveIntegerField(default=0, help_text="Grows with each change: who read an older one loses.")

    class Meta:
        ordering = ("pk",)
        indexes = [models.Index(fields=["closed_at"], name="contract_open")]

    def __str__(self) -> str:
        return f"contract of run {self.run_id}"

    @property
    def prediction(self) -> Prediction | None:
        """What was promised. Raises InputError for a row that cannot be read."""
        return None if self.promised is None else Prediction.read(self.promised)

    @property
    def limits(self) -> Limits:
        """The limits that were given."""
        return Limits(self.lower, self.upper)

    @property
    def monitor_state(self) -> MonitorState:
        """What the monitor knows. Raises InputError for a row that cannot be read."""
        return MonitorState.read(self.monitor) if self.monitor else MonitorState(limits=self.limits)

    def monitor_of(self, promised: Prediction) -> Monitor:
        """The monitor, as it was left."""
        return Monitor(promised, self.limits, self.monitor_state)


class ContractCall(models.Model):
    """A call to the rescheduler, and what was known then. Only ever added; the answer is written once.

    promised, seconds: of one report of the phase; complete: 0..1; ret_current: seconds, None where nobody can foretell
    the rest. answer: the rescheduler's weighing as JSON, empty while nobody has weighed it.
    """

    contract = models.ForeignKey(Contract, on_delete=models.CASCADE, related_name="calls")
    at = models.DateTimeField()
    report = models.PositiveBigIntegerField()
    phase = models.CharField(max_length=60)
    promised = models.FloatField()
    seconds = models.FloatField()
    average = models.FloatField()
    complete = models.FloatField(null=True, blank=True)
    ret_current = models.FloatField(null=True, blank=True)
    answer = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=["contract", "report"], name="one_call_per_report")]

    def __str__(self) -> str:
        return f"call after report {self.report} of contract {self.contract_id}"


class ModelOutcome(models.Model):
    """How a model did for one phase of a run that went well: seconds of a report, predicted and actual, on average."""

    contract = models.ForeignKey(Contract, on_delete=models.CASCADE, related_name="outcomes")
    model = models.CharField(max_length=60)
    phase = models.CharField(max_length=60)
    predicted = models.FloatField()
    actual = models.FloatField()

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=["contract", "model", "phase"], name="one_outcome_per_phase")]

    def __str__(self) -> str:
        return f"{self.model}: {self.phase}"
