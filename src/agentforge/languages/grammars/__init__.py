"""Languages that are read but not run, by tree-sitter where the extra `code` is installed."""
