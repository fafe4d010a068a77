"""What a change is, whatever is said of it: its kind, what that kind owes, and what must be named."""
