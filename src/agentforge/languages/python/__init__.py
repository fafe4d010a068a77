"""Python: its projects, environments, tests and tools."""
