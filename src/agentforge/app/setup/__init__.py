"""What people configured, what this machine has, and how both are looked at and changed."""
