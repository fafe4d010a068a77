"""Documents and data: their tests are checks that are written down before the text, and read by us alone.

A check is data (`*.checks.yaml`), so nothing of the project runs and nobody else has a part in a verdict.
What a check can ask for is a row of `demands.py`; what every document is held to unasked is in `lint.py`.
"""
