"""The walls around a run, one module for each kind, and the choice among them."""
