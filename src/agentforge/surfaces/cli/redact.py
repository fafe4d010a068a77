"""`redact`: the redaction that every text passes before a model sees it, as a filter."""

import sys
from pathlib import Path

import click


@click.command(
    epilog="""\b
Examples:
  agentforge redact < server.log
  agentforge redact .env
  git diff | agentforge redact

What looks like a secret becomes [REDACTED:kind]; nothing else changes. The file itself is left as it is."""
)
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
def redact(*, file: Path | None) -> int:
    """Copy FILE, or what comes in, without its secrets."""
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_bytes
    from agentforge.system.redact import redact as without_secrets

    if file is None or str(file) == "-":
        data = sys.stdin.buffer.read()
    else:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise UsageError(f"{str(file)!r} cannot be read: {error.strerror}.") from error
    # What is no text goes through unchanged, byte for byte.
    text, _ = without_secrets(data.decode("utf-8", "surrogateescape"))
    print_bytes(text.encode("utf-8", "surrogateescape"))
    return 0
