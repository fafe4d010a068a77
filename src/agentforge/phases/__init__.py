"""The document workflow: ten phases whose whole state is files that people and programs write together.

Everything here is a function from texts to texts. A command reads the files once, asks what shall be done,
and writes what it is told; so the same files at the same moment lead to the same bytes, whoever runs it.

- `state.py`: where a workflow is, read from and written into `active-workflow.md`.
- `tree.py`: the files, by their places, and what is to be written.
- `entering.py`, `rules.py`, `exiting.py`: the protocol of a phase: enter, work, gate, exit.
- `debates.py`: the plan of a debate, and what becomes of its decision.
- `knowledge.py`: the registries of decisions, constraints, assumptions and risks.
- `advance.py`: what a command does; everything else is called from there.
"""
