"""A report as PDF, where the extra for it and the system's library are installed."""

from agentforge.core.errors import Unusable
from agentforge.system.installation import install_command


def print_report(html: str) -> bytes:
    """The PDF of a report that is one HTML file; `Unusable` says what is missing for it."""
    try:
        from agentforge.integrations.pdf import print_html
    except ModuleNotFoundError:
        raise Unusable(
            "PDF needs an optional part that is not installed.", f"Run: {install_command('pdf')}"
        ) from None
    except OSError:  # the library that lays out text is not part of any wheel
        raise Unusable(
            "PDF needs Pango, a library of the system that is not installed.",
            "On Debian or Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0.",
        ) from None
    return print_html(html)
