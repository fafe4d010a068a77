"""Tools that run something: tests, checks, commands, and the programs that a project declares."""
