"""Choosing nodes: patterns, exact search, flows, explanations. Pure."""
