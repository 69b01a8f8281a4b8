"""Clusters, their nodes and links, and the topology that these make."""
