"""How big a request is, before any model is asked: its goal, its lane, what it will probably take."""
