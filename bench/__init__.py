"""Measurements: what a step, a command and a journal cost. Shown, never a timed test."""
