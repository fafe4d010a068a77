"""Who drives a task. An engine starts what is owed and reports what came of it; it decides nothing."""
