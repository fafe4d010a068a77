"""What an agent can do: one table of tools, and the bridge that holds a role to its own part of it."""
