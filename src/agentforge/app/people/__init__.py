"""What people say to tasks: answers, decisions, permissions, and the inbox in which all questions wait."""
