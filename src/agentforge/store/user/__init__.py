"""What belongs to the user: grants, consents, keys, the ledger, the index of all tasks."""
