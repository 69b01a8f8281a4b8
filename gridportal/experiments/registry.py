"""The experiments there are: every folder beside this file that holds one."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from gridportal import experiments as package
from gridportal.base.errors import InputError
from gridportal.experiments.interface import Experiment

#: Folders of the app that hold no experiment.
_OTHERS = ("migrations", "moves", "services", "templatetags")


@cache
def experiments() -> tuple[Experiment, ...]:
    """All of them in the order of lists. Raises TypeError for a folder without one: nobody would miss it in a list."""
    modules = [info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg and info.name not in _OTHERS]
    return tuple(
        sorted((_loaded(name) for name in modules), key=lambda experiment: (experiment.order, experiment.name))
    )


def names() -> tuple[str, ...]:
    """Their names in the same order."""
    return tuple(experiment.name for experiment in experiments())


def find(name: str) -> Experiment | None:
    """The one of this name; None where there is none, as of a row whose experiment was taken out of the portal."""
    return next((experiment for experiment in experiments() if experiment.name == name), None)


def named(name: str) -> Experiment:
    """The one of this name. Raises InputError."""
    experiment = find(name)
    if experiment is None:
        raise InputError("name", name, "one of " + ", ".join(names()))
    return experiment


def _loaded(folder: str) -> Experiment:
    experiment = getattr(import_module(f"{package.__name__}.{folder}"), "EXPERIMENT", None)
    if not isinstance(experiment, Experiment) or experiment.name.replace("-", "_") != folder:
        raise TypeError(
            f"{package.__name__}.{folder} must hold EXPERIMENT, an Experiment with the name {folder!r} (- for _)."
        )
    return experiment
