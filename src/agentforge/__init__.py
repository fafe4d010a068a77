"""AgentForge: a request and a git repository in; a verified branch with its proof, or one precise question,
out.

Read in this order: `core/events.py`, `core/decide.py`, `engines/local.py`, `activities/perform.py`,
`catalog/pipelines/implement.yaml`, then one scenario in `tests/`.
"""

__version__ = "0.1.0"
