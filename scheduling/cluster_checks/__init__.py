"""Clusters as people see them: a page of each, and checks that ask all its parts."""
