"""The one way out of a run: a proxy that knows where the run may go."""
