"""What is on record of tasks, read for whoever shows it."""
