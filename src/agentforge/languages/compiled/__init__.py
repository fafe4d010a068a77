"""Languages that are compiled before they run: what they share, and a module of data and one judge each."""
