"""What a language is, to the rest of the system: `port.py` on one screen, one package for each language, and `table.py`,
which finds the languages of a repository and of a file.

No other package knows a file suffix, the name of a tool or a test runner.
"""
