"""The rules: pure functions over frozen values. Standard library only; no clock, ids, randomness or I/O.

Read `machine` first: the theory, and the tables that say where a task can go. Then `decide` (what an input
means), `evolve` (the fold) and `pending` (what is owed now).
"""
