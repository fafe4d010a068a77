"""The rules: pure functions over frozen values. Standard library only; no clock, ids, randomness or I/O."""
