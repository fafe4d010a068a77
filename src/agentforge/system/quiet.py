"""What libraries log for their developers stays off the screen of a person."""

import logging


def hush_logs() -> None:
    """Log lines go where a handler was set up for them, and not to the error stream for want of one."""
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())
