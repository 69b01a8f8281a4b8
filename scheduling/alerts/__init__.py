"""Alerts: rules on any series of a cluster, judged every few seconds, with their history and notices."""
