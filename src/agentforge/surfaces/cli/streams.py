"""The three standard streams, made fit before anything is said: one that whoever started us closed, and an
output that cannot be written.
"""

import errno
import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any

_FLAGS = (os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)
"""Of what stands in: nothing can be read; a write to the output fails, so that it is noticed; one to the
error stream does not, since nobody could be told.
"""


class OutputLost(OSError):
    """What a command printed cannot be written: the disk is full, or the output is closed."""

    @property
    def sentence(self) -> str:
        """What happened, for a person."""
        why = "it is closed" if self.errno == errno.EBADF else (self.strerror or "").lower()
        return f"The output cannot be written: {why}."


class _Output(FileIO):
    """The output, whose errors are told apart from those of any other file."""

    def write(self, data: Any) -> int:  # noqa: ANN401 - anything with bytes in it
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error.errno, error.strerror) from error


def fit_streams() -> None:
    """Makes the streams of this process fit for use. A closed one is more than a nuisance: the next file that
    is opened gets its number, and whatever programs print goes there.
    """
    for number, flags in enumerate(_FLAGS):
        try:
            os.fstat(number)
        except OSError:
            _stand_in(number, flags)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
    if sys.stdout is not sys.__stdout__:
        return  # somebody reads it inside of this process
    encoding = sys.stdout.encoding if sys.stdout is not None else "utf-8"
    sys.stdout = TextIOWrapper(
        BufferedWriter(_Output(1, "w", closefd=False)), encoding, line_buffering=os.isatty(1)
    )


def give_up_output() -> None:
    """Lets what could not be written go nowhere: at its end Python would try once more, and complain."""
    _stand_in(1, os.O_WRONLY)


def _stand_in(number: int, flags: int) -> None:
    nothing = os.open(os.devnull, flags)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
