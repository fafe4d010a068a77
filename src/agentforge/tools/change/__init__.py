"""Tools that change files: write, edit, patch, move, and the two that add to release files."""
