"""What a command line would do, and whether it may: parsed, graded by risk, permitted."""
