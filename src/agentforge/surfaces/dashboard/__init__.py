"""The dashboard: a server on this machine, and the page that people leave open.

It reads through the same use cases as the commands and writes only through them: nothing is kept here but a
key. `door.py` decides who may come in, `reader.py` what is read, `watcher.py` when it has changed;
`read_routes.py`, `act_routes.py` and `sockets.py` are the API, and `static/` is the page, which loads nothing
from elsewhere.
"""
