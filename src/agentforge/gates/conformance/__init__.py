"""The conformance engine: what the checks of the catalogue and of a project find in its files."""
