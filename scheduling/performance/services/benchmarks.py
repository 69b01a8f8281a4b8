"""The rates of the kernels, measured once for a portal and kept in its home; and what they are on a cluster."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from django.conf import settings

from gridportal.base import atomic_file, bounded_json
from gridportal.base.checked_numbers import is_number
from gridportal.base.errors import InputError
from monitoring.clusters import selectors
from scheduling.performance.adapters import kernel_process
from scheduling.performance.core.kernel_rates import KernelRates

log = logging.getLogger(__name__)
#: Its name in the portal's home; whoever removes it has them measured again.
FILE = "kernel-rates.json"


def rates_on(cluster: str) -> KernelRates:
    """Those of a node of speed 1 of a cluster: on an emulated Grid it may have a part of a processor only.

    Raises BenchmarkError, OSError.
    """
    row = selectors.cluster(cluster)
    share = row.facts.get("processor") if row else None
    return kernel_rates().on(share) if is_number(share) and 0 < share < 1 else kernel_rates()


def kernel_rates() -> KernelRates:
    """Those that are kept, else measured now, which takes a second. Raises BenchmarkError, OSError."""
    path = Path(settings.PORTAL.home) / FILE
    try:
        return KernelRates.read(bounded_json.loads(path.read_bytes()))
    except FileNotFoundError:
        pass
    except (InputError, bounded_json.UnreadableError) as error:
        log.warning("%s cannot be read, so the kernels are measured again: %s", path, error)
    rates = kernel_process.measured_apart()
    atomic_file.write(path, json.dumps(rates.document()))
    return rates
