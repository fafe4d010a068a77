"""How things look on a terminal: pages, tables, words and screens."""
