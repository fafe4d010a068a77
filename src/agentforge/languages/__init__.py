"""What a language is: one port, one package for each language, and the table that finds those of a repository."""
