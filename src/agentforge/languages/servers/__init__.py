"""Language servers: which there are, and what one said of a tree when it was asked inside the walls."""
