"""What belongs to one task: its journal, pack, artifacts, views, inbox and lock."""
