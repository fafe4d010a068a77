"""The commands, one module each: the declaration, one import of the work, and what is printed."""
