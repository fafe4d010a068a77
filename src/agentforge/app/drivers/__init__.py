"""Who drives a task, here or on a Temporal server, and what is told while it runs."""
