"""What programs report of their phases: sums of all reports, and some of the single ones."""

from __future__ import annotations

from django.db import models

from scheduling.runs.core.phase_sums import ExactSum, PhaseSum


class PhaseTotal(models.Model):
    """All reports of one phase of a run, in seconds. `..._carry`: what rounding lost of the sum beside it."""

    run = models.ForeignKey("scheduling.Run", on_delete=models.CASCADE, related_name="phase_totals")
    phase = models.CharField(max_length=60)
    count = models.PositiveBigIntegerField()
    seconds = models.FloatField()
    seconds_carry = models.FloatField(default=0.0)
    least = models.FloatField()
    most = models.FloatField()
    compute = models.FloatField(null=True, blank=True)
    compute_carry = models.FloatField(default=0.0)
    communicate = models.FloatField(null=True, blank=True)
    communicate_carry = models.FloatField(default=0.0)
    iteration = models.PositiveIntegerField(null=True, blank=True)
    of = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)  # as the phases began
        constraints = [models.UniqueConstraint(fields=["run", "phase"], name="phase_once_per_run")]

    def __str__(self) -> str:
        return f"{self.count} times {self.phase}"

    def as_sum(self) -> PhaseSum:
        """The value that it keeps."""
        return PhaseSum(
            phase=self.phase,
            count=self.count,
            seconds=ExactSum(self.seconds, self.seconds_carry),
            least=self.least,
            most=self.most,
            compute=_sum(self.compute, self.compute_carry),
            communicate=_sum(self.communicate, self.communicate_carry),
            iteration=self.iteration,
            of=self.of,
        )

    @classmethod
    def from_sum(cls, run_id: int, phase_sum: PhaseSum) -> PhaseTotal:
        """A row, not written yet."""
        return cls(
            run_id=run_id,
            phase=phase_sum.phase,
            count=phase_sum.count,
            seconds=phase_sum.seconds.total,
            seconds_carry=phase_sum.seconds.carry,
            least=phase_sum.least,
            most=phase_sum.most,
            compute=phase_sum.compute.total if phase_sum.compute else None,
            compute_carry=phase_sum.compute.carry if phase_sum.compute else 0.0,
            communicate=phase_sum.communicate.total if phase_sum.communicate else None,
            communicate_carry=phase_sum.communicate.carry if phase_sum.communicate else 0.0,
            iteration=phase_sum.iteration,
            of=phase_sum.of,
        )


class PhaseReport(models.Model):
    """Measured seconds of one phase (maximum over ranks), as the program reported it; some of many.

    `number`: its place among the reports of this phase of the run, from 0.
    """

    run = models.ForeignKey("scheduling.Run", on_delete=models.CASCADE, related_name="phases")
    at = models.DateTimeField()
    phase = models.CharField(max_length=60)
    number = models.PositiveBigIntegerField(default=0)
    iteration = models.PositiveIntegerField(null=True, blank=True)
    of = models.PositiveIntegerField(null=True, blank=True)
    seconds = models.FloatField()
    compute = models.FloatField(null=True, blank=True)
    communicate = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.phase} {self.seconds:.3f} s"


def _sum(total: float | None, carry: float) -> ExactSum | None:
    return None if total is None else ExactSum(total, carry)
