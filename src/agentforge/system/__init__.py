"""The operating system as the rest of the program sees it: git, processes, files, strict YAML, canonical
JSON, redaction.
"""
