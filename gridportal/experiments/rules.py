"""Who may see experiments, and who may start, cancel and resume them."""

from __future__ import annotations

import rules

from gridportal.accounts.rules import operates, signed_in

rules.add_perm("experiments.view_experiment", signed_in)
rules.add_perm("experiments.run_experiment", operates)
