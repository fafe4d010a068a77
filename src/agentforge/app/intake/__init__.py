"""A request becomes a task on record: what a person hands in, and what it may build on."""
