"""The gate of a debate: the files it leaves, the words they must say, and what its decision is."""
