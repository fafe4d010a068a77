"""The models of a user: which answer, whether they do, with which keys, and what their calls cost."""
