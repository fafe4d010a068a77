"""The first program in a run's own network: opens its one door there, hands it out to the driver, then
becomes the program.

Given to an isolated interpreter as text: `python -I -S -c TEXT CHANNEL PORT PROGRAM ARGUMENT...`. A socket
stays in the network that it was made in, whoever holds it, so the driver can answer there without being
there. Nothing of it is left inside.
"""

import os
import socket
import sys

CANNOT = 126


def main(arguments: list[str]) -> None:
    """Open the door, then become the program."""
    channel, port, argv = int(arguments[0]), int(arguments[1]), arguments[2:]
    with socket.socket(fileno=channel) as way, socket.create_server(("127.0.0.1", port), backlog=128) as door:
        socket.send_fds(way, [b"door"], [door.fileno()])
    os.execvpe(argv[0], argv, os.environ)  # noqa: S606 - becoming the program is the point


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as problem:
        sys.stderr.write(f"bwrap: {problem}\n")
        sys.stderr.flush()
        os._exit(CANNOT)
