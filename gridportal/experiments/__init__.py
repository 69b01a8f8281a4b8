"""Experiments of the papers, repeated on the emulated Grid: each is a list of trials that can be stopped and resumed.

They need no portal and no database: they build a Grid of their own, and every finished trial is a line in their folder.
"""
