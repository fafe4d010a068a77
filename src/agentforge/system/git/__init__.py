"""git, called in one way, whatever the user, the machine or the repository configured."""
