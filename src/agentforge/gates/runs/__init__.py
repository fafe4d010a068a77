"""How verdicts run tests: where, how often, and what is done about outcomes that differ."""
