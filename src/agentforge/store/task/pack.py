"""The pack: contexts, replies and results of all steps in one append-only file, addressed by content.

A block is a header (magic, SHA-256 of the content, compressed length, checksum of the header) and the
compressed content. What is put twice is stored once. A torn tail is invisible to readers, and cut by the next
writer.
"""

import contextlib
import errno
import json
import os
import struct
import threading
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from agentforge.core.errors import Unusable
from agentforge.core.reply import Json
from agentforge.system.bounded import LARGEST
from agentforge.system.canon import canonical, digest
from agentforge.system.files import disk_errors
from agentforge.system.secrets import known
from agentforge.system.secrets.redact import redact
from agentforge.system.secrets.values import clean, clean_words
from agentforge.system.unlinked import make_unlinked, open_unlinked

_MAGIC = b"AFb1"
_HEADER = struct.Struct(">4s32sQL")
_LEVEL = 6
_WINDOW = 1 << 20
_REMEMBERED = 256


class _Block(NamedTuple):
    offset: int
    length: int


class Pack:
    """One task's pack. Any number of threads; one writing process, any number of reading ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index: dict[str, _Block] = {}
        self._fd: int | None = None
        self._writable = False
        self._scanned = 0
        """Where the last whole block ends."""
        self._dirty = False
        self._put: dict[str, tuple[str, tuple[str, ...] | None]] = {}
        """Blocks of contexts, each with its name and the keys that were known then."""
        self._lock = threading.RLock()

    def put(self, content: str | bytes) -> str:
        """The content's hash; the block is on disk after `sync`."""
        data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
        if len(data) > LARGEST:
            raise Unusable(f"{self.path}: a block of {len(data)} bytes is larger than a pack holds.")
        name = digest(data)
        with self._lock, disk_errors():
            self._open_for_writing()
            if name not in self._index:
                self._append(name, zlib.compress(data, _LEVEL))
        return name

    def get(self, name: str) -> bytes:
        """The content with this hash. A missing or damaged block is named."""
        with self._lock, disk_errors():
            block = self._find(name)
            data = self._content(name, block)
        if data is None:
            raise Unusable(
                f"{self.path}: block {name[:12]} at byte {block.offset} is damaged.", self._put_back()
            )
        return data

    def get_text(self, name: str) -> str:
        """The text with this hash."""
        return self.get(name).decode(errors="surrogatepass")

    def put_json(self, value: Json) -> str:
        """Stores a value without the secrets in it; the hash of its canonical form."""
        return self.put(canonical(clean(value)))

    def get_json(self, name: str) -> Json:
        """The value with this hash."""
        value: Json = json.loads(self.get(name))
        return value

    def put_blocks(self, blocks: Iterable[tuple[str, str]], about: Mapping[str, Json] | None = None) -> str:
        """A list of named texts, each its own block: what did not change since the last step costs
        nothing. `about` is kept beside them. No secret is stored.
        """
        listed = [(name, self._put_block(text)) for name, text in blocks]
        # The hashes are ours, and there are many of them: they are not searched for secrets.
        kept = clean_words({**(about or {}), "blocks": [name for name, _ in listed]})
        assert isinstance(kept, dict)
        names = kept["blocks"]
        assert isinstance(names, list)
        kept["blocks"] = [[name, ref] for name, (_, ref) in zip(names, listed, strict=True)]
        return self.put(canonical(kept))

    def _put_block(self, text: str) -> str:
        """Where a text is kept without its secrets. One that is shown again is neither searched nor hashed
        again, as long as the same keys are known.
        """
        spellings = known.spellings()
        name, then = self._put.get(text, ("", None))
        if then is not spellings:
            name = self.put(redact(text)[0])
            if len(self._put) >= _REMEMBERED:
                self._put.clear()
            self._put[text] = (name, spellings)
        return name

    def get_blocks(self, ref: str) -> list[tuple[str, str]]:
        """The named texts that `put_blocks` stored under this hash."""
        value = self.get_json(ref)
        blocks = value.get("blocks") if isinstance(value, dict) else None
        if not isinstance(blocks, list):
            raise Unusable(f"{self.path}: block {ref[:12]} is not a list of blocks.")
        return [(str(name), self.get_text(str(text))) for name, text in (_pair(item) for item in blocks)]

    def about_blocks(self, ref: str) -> dict[str, Json]:
        """What was kept beside the named texts under this hash."""
        value = self.get_json(ref)
        return (
            {key: item for key, item in value.items() if key != "blocks"} if isinstance(value, dict) else {}
        )

    def problems(self) -> list[str]:
        """Every block held against its name, and what between or behind the blocks belongs to none."""
        with self._lock, disk_errors():
            self._open_for_reading()
            assert self._fd is not None
            size, at, found = os.fstat(self._fd).st_size, 0, []
            while at < size:
                block = _parse(os.pread(self._fd, _HEADER.size, at))
                if block is None or at + _HEADER.size + block[1] > size:
                    following = self._next_header(at + 1, size)
                    end = size if following is None else following
                    found.append(f"{end - at} bytes at byte {at} are no block")
                    at = end
                    continue
                name, length = block
                if self._content(name, _Block(at, length)) is None:
                    found.append(f"block {name[:12]} at byte {at} is damaged")
                at += _HEADER.size + length
        return found

    def sync(self) -> None:
        """Waits until every block is on the disk."""
        with self._lock, disk_errors():
            if self._fd is not None and self._dirty:
                os.fsync(self._fd)
                self._dirty = False

    def close(self) -> None:
        """Closes the file, if it is open."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
            self._fd, self._writable = None, False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _find(self, name: str) -> _Block:
        if name not in self._index:  # another process may have written since
            self._open_for_reading()
            self._scan()
        if name not in self._index:
            raise Unusable(f"{self.path}: block {name[:12]} is missing.", self._put_back())
        return self._index[name]

    def _content(self, name: str, block: _Block) -> bytes | None:
        assert self._fd is not None
        if block.length > LARGEST:
            return None
        packed = os.pread(self._fd, block.length, block.offset + _HEADER.size)
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(packed, LARGEST)  # a few bytes can stand for very many
        except zlib.error:
            return None
        return data if unpacking.eof and not unpacking.unused_data and digest(data) == name else None

    def _append(self, name: str, packed: bytes) -> None:
        assert self._fd is not None
        if os.fstat(self._fd).st_size != self._scanned:
            self._scan()
            os.ftruncate(self._fd, self._scanned)
        rest = memoryview(_header(name, len(packed)) + packed)
        length = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._scanned)
            raise
        self._index[name] = _Block(self._scanned, len(packed))
        self._scanned += length
        self._dirty = True

    def _open_for_reading(self) -> None:
        if self._fd is None:
            try:
                self._fd = open_unlinked(self.path, os.O_RDONLY)
            except FileNotFoundError:
                raise Unusable(
                    f"{self.path} is missing, and nothing else has what the model was shown and answered.",
                    self._put_back(),
                ) from None

    def _put_back(self) -> str:
        task = self.path.parent.name
        return (
            f"Put the file back from a copy of yours; without it the task cannot go on, and `agentforge "
            f"abort {task}` ends it. Its journal and its branch are as they were."
        )

    def _open_for_writing(self) -> None:
        if self._writable:
            return
        self.close()
        make_unlinked(self.path.parent)
        self._fd = open_unlinked(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._writable = True
        self._scan()
        self._drop_torn_last()
        os.ftruncate(self._fd, self._scanned)

    def _scan(self) -> None:
        """Index what was written since the last look, by headers alone."""
        assert self._fd is not None
        size = os.fstat(self._fd).st_size
        while self._scanned < size:
            found = _parse(os.pread(self._fd, _HEADER.size, self._scanned))
            if found is None:
                following = self._next_header(self._scanned + 1, size)
                if following is None:
                    return
                self._scanned = following  # damage in the middle: the blocks around it stay readable
                continue
            name, length = found
            end = self._scanned + _HEADER.size + length
            if end > size:
                return
            self._index[name] = _Block(self._scanned, length)
            self._scanned = end

    def _next_header(self, start: int, size: int) -> int | None:
        assert self._fd is not None
        while (start := self._data_from(start)) < size:
            rest = os.pread(self._fd, _WINDOW, start)
            at = rest.find(_MAGIC)
            while at >= 0:
                if _parse(rest[at : at + _HEADER.size]) is not None:
                    return start + at
                at = rest.find(_MAGIC, at + 1)
            if len(rest) < _WINDOW:
                return None
            start += _WINDOW - _HEADER.size  # one may begin in this window and end in the next
        return None

    def _data_from(self, start: int) -> int:
        """Where bytes are next: a file can have great holes."""
        assert self._fd is not None
        try:
            return os.lseek(self._fd, start, os.SEEK_DATA)
        except OSError as error:
            return os.fstat(self._fd).st_size if error.errno == errno.ENXIO else start

    def _drop_torn_last(self) -> None:
        """After a power loss the length of the last block may be on the disk and its bytes not."""
        last = max(self._index.items(), key=lambda item: item[1].offset, default=None)
        if last is not None and self._content(*last) is None:
            del self._index[last[0]]
            self._scanned = last[1].offset


def _header(name: str, length: int) -> bytes:
    bare = _HEADER.pack(_MAGIC, bytes.fromhex(name), length, 0)
    return bare[:-4] + struct.pack(">L", zlib.crc32(bare[:-4]))


def _parse(header: bytes) -> tuple[str, int] | None:
    if len(header) < _HEADER.size:
        return None
    magic, name, length, check = _HEADER.unpack(header)
    return (name.hex(), length) if magic == _MAGIC and check == zlib.crc32(header[:-4]) else None


def _pair(item: Json) -> tuple[Json, Json]:
    if isinstance(item, list) and len(item) == 2:
        return item[0], item[1]
    raise Unusable("A list of blocks holds something else.")
