"""What is on disk: the journal, which is the truth, and everything that can be made from it again."""
