"""What can be computed about a tree: test outcomes, symbols, imports, weakened tests, lint, the size of a
request.
"""
