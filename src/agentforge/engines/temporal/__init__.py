"""The second engine: a Temporal workflow hands out what is owed, and workers on many machines do it. The
journal stays the truth.
"""
