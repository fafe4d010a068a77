"""Documents in Markdown that people and programs write together: their front matter, headings, tables and
lists, found by place, so that a change touches what it owns and keeps every other byte.

Nothing here knows what a document is for.
"""
