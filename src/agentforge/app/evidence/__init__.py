"""What a task proved, and its path looked at again: proof, audit, replay, comparison, figures and traces."""
