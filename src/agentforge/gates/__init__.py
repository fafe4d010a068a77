"""Who judges: named rules about artifacts, and the gates that stand between two stages."""
