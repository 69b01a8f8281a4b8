"""Experiments of the papers, repeated on the emulated Grid: each is a list of trials that can be stopped and resumed.

Each experiment is one folder here, which the registry finds: nothing else names it (`interface` says what is in it).
Measuring needs no portal and no database: an experiment builds a Grid of its own, and every finished trial is a line in
its folder of results. The rest is a Django app that starts them, follows them and shows what they measured.
"""
