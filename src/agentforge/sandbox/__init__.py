"""Where code runs: confined by the operating system, in an environment of its own, on a tree of its own."""
