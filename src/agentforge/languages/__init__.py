"""What a language is, to the rest of the system: `port.py` says what may be asked, each language has a
package, and `table.py` finds the languages of a repository and of a file.

No other package knows a file suffix, the name of a tool or a test runner.
"""
