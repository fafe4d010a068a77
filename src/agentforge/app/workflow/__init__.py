"""The ten-phase document workflow, its debates, and the neighbours that it works under."""
