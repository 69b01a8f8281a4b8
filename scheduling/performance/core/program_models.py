"""The models that come with the portal, by the short names of their programs."""

from __future__ import annotations

from collections.abc import Mapping

from scheduling.performance.core import panel_models, stencil_model
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.performance_model import PerformanceModel
from scheduling.performance.core.stencil_model import StencilModel

#: The name of the model of each program.
NAMES: Mapping[str, str] = panel_models.APPLICATIONS | dict.fromkeys(stencil_model.APPLICATIONS, stencil_model.NAME)


def model_of(application: str, rates: KernelRates) -> PerformanceModel:
    """The model of one of NAMES, with these rates of the kernels on a node of speed 1."""
    if application in stencil_model.APPLICATIONS:
        return StencilModel(application, rates)
    return panel_models.model_of(application, rates)
