"""`redact`: the redaction that every text passes before a model sees it, as a filter."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click


@click.command(
    epilog="""\b
Examples:
  agentforge redact < server.log
  agentforge redact .env
  git diff | agentforge redact

What looks like a secret becomes [REDACTED:kind]; nothing else changes. The file itself is not changed."""
)
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
def redact(*, file: Path | None) -> int:
    """Copy FILE, or standard input, without its secrets."""
    from codecs import getincrementaldecoder

    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_bytes
    from agentforge.system.secrets.stream import redact_stream

    def pieces(source: io.BufferedReader) -> Iterator[str]:
        # What is no text goes through unchanged, byte for byte.
        decoder = getincrementaldecoder("utf-8")("surrogateescape")
        while data := source.read1(1 << 16):
            yield decoder.decode(data)
        yield decoder.decode(b"", final=True)

    try:
        source = sys.stdin.buffer if file is None or str(file) == "-" else file.open("rb")
    except OSError as error:
        raise UsageError(
            f"{str(file)!r} cannot be read: {(error.strerror or str(error)).lower()}.",
            "Name another file, or pipe the text into `agentforge redact`.",
        ) from error
    with source:
        for text in redact_stream(pieces(cast("io.BufferedReader", source))):
            print_bytes(text.encode("utf-8", "surrogateescape"))
    return 0
