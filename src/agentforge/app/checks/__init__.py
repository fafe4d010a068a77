"""`agentforge check`: the files of a checkout, the rules they are held to, and what was found."""
