"""The named rules about artifacts, and the table of them."""
