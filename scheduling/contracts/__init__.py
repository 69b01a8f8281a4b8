"""Contracts: what a run was promised, held against what it gets."""
