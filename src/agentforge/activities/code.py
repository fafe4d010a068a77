"""The code of a tree as an index: facts from the cache by content, the rest read from git and kept.

Blobs never change, so neither a file that is being written, nor a link that leads in circles, nor a file of
gigabytes can disturb it: links are not followed, and what is too long is known by its name.
"""

import time
from dataclasses import dataclass

from agentforge.context.code_index import CodeIndex, is_test, path_terms
from agentforge.context.request_words import request_stems
from agentforge.languages.facts import READ_LIMIT, FileFacts, facts_of, has_facts, reader_digest
from agentforge.languages.symbols import decode
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.collection import no_collection
from agentforge.system.git.repository import Git, TreeEntry
from agentforge.system.secrets.redact import redact

MOST_READ = 8_000
"""Files whose code is read; of a larger tree the others are known by their names."""
MOST_SECONDS = 60.0
"""A guard against files that were made to be slow to read; what is read then is known the next time."""
_LINK = "120000"
_NOTHING = FileFacts()


@dataclass(slots=True)
class CodeReader:
    """Reads trees of one repository; a tree much like the last one costs what differs."""

    git: Git
    kept: KeptFacts | None = None
    _last: tuple[str, CodeIndex] | None = None

    def index(self, tree: str, request: str = "") -> CodeIndex:
        """Everything that the files of a tree define and use; of a very large one, those first whose paths
        share a word with the request.
        """
        wanted = frozenset(request_stems(request))
        if self._last is None:
            found = CodeIndex.of(self._facts(tree, None, wanted))
        elif self._last[0] == tree:
            return self._last[1]
        else:
            before, known = self._last
            paths = {change.path for change in self.git.diff_names(before, tree)}
            new: dict[str, FileFacts | None] = dict.fromkeys(paths)
            found = known.with_files({**new, **self._facts(tree, paths, wanted)})
        self._last = (tree, found)
        return found

    def _facts(self, tree: str, only: set[str] | None, wanted: frozenset[str]) -> dict[str, FileFacts]:
        """The facts of the files of a tree, or of some of them."""
        entries = [entry for entry in self.git.ls_tree(tree) if entry.kind == "blob"]
        read = _chosen(entries, wanted)
        if only is not None:
            entries = [entry for entry in entries if entry.path in only]
            read = [entry for entry in read if entry.path in only]
        keys = {entry.path: f"{reader_digest(entry.path)}:{entry.oid}" for entry in read}
        known = self.kept.get(list(dict.fromkeys(keys.values()))) if self.kept else {}
        files = {entry.path: _NOTHING for entry in entries}
        new: dict[str, str] = {}
        sizes: dict[str, int] = {}
        began = time.monotonic()
        with no_collection():
            for entry in read:
                key = keys[entry.path]
                facts = FileFacts.from_json(known[key]) if key in known else None
                if facts is None:
                    if time.monotonic() - began > MOST_SECONDS:
                        continue
                    sizes = sizes or self.git.sizes(tree)
                    is_long = sizes.get(entry.path, 0) > READ_LIMIT
                    facts = _NOTHING if is_long else self._read(entry)
                    new[key] = facts.to_json()
                files[entry.path] = facts
        if self.kept and new:
            self.kept.put(new)
        return files

    def _read(self, entry: TreeEntry) -> FileFacts:
        found = self.git.find(entry.oid)
        if found is None or found.kind != "blob":
            return _NOTHING
        facts = facts_of(decode(found.data, entry.path), entry.path)
        # Only signatures leave as text; what looks like a key in one is taken out where it enters.
        return facts.redacted(lambda text: redact(text)[0])


def _chosen(entries: list[TreeEntry], wanted: frozenset[str]) -> list[TreeEntry]:
    """The files that are read: those that the request may mean, code before tests, then by how deep they
    lie, then by name.
    """
    code = [entry for entry in entries if entry.mode != _LINK and has_facts(entry.path)]
    if len(code) <= MOST_READ:
        return code
    return sorted(
        code,
        key=lambda each: (
            not (wanted & path_terms(each.path)),
            is_test(each.path),
            each.path.count("/"),
            each.path,
        ),
    )[:MOST_READ]
