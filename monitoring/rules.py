"""Who may see the network, and who may have it measured."""

from __future__ import annotations

import rules

from gridportal.accounts.rules import operates, signed_in

rules.add_perm("monitoring.view_network", signed_in)
rules.add_perm("monitoring.measure_network", operates)
