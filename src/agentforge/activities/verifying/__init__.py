"""`agentforge verify`: the record of a task, its objects in git, its seal, and its verdicts given again."""
