"""Tools that only look: files, symbols, documentation, git, and what can be computed from them."""
