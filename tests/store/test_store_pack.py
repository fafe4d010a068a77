"""The pack: what is put is found, once, after any crash."""

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import Unusable
from agentforge.store.task.pack import Pack
from agentforge.system.canon import digest, digest_value
from agentforge.system.secrets.known import remember


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "task" / "steps.pack"


def test_content_is_found_by_its_hash_by_this_and_by_another_reader(path: Path) -> None:
    with Pack(path) as pack, Pack(path) as other:
        first = pack.put("Grüße, half a pair \ud83d")
        second = pack.put(b"\0\xff")
        empty = pack.put("")
        assert first == digest("Grüße, half a pair \ud83d")
        assert (pack.get_text(first), other.get(second), other.get(empty)) == (
            "Grüße, half a pair \ud83d",
            b"\0\xff",
            b"",
        )
        late = pack.put("later")
        assert other.get_text(late) == "later"


def test_a_value_is_found_by_the_hash_of_its_canonical_form(path: Path) -> None:
    with Pack(path) as pack:
        ref = pack.put_json({"b": [1, None, True], "a": "ü"})
        assert ref == digest_value({"a": "ü", "b": [1, None, True]})
        assert pack.get_json(ref) == {"a": "ü", "b": [1, None, True]}


def test_what_is_there_already_costs_nothing(path: Path) -> None:
    with Pack(path) as pack:
        pack.put("x" * 1000)
        size = path.stat().st_size
        pack.put("x" * 1000)
        assert path.stat().st_size == size
    with Pack(path) as again:
        again.put("x" * 1000)
        assert path.stat().st_size == size


def test_of_a_list_of_blocks_only_the_changed_ones_are_stored(path: Path) -> None:
    text = "".join(f"line {number} {digest(str(number))}\n" for number in range(300))
    with Pack(path) as pack:
        first = pack.put_blocks([("system", text), ("notes", "one")])
        size = path.stat().st_size
        second = pack.put_blocks([("system", text), ("notes", "two")])
        assert path.stat().st_size - size < 500
        assert pack.get_blocks(first) == [("system", text), ("notes", "one")]
        assert pack.get_blocks(second) == [("system", text), ("notes", "two")]


def test_a_torn_tail_is_invisible_and_cut_by_the_next_writer_wherever_it_is_torn(path: Path) -> None:
    with Pack(path) as pack:
        kept = pack.put("kept")
        whole = path.stat().st_size
        lost = pack.put("lost " * 20)
    data = path.read_bytes()
    for end in range(whole, len(data)):
        path.write_bytes(data[:end])
        with Pack(path) as reader:
            assert reader.get_text(kept) == "kept"
            with pytest.raises(Unusable, match=f"block {lost[:12]} is missing"):
                reader.get(lost)
        assert path.stat().st_size == end
        with Pack(path) as writer:
            new = writer.put("new")
            assert (writer.get_text(kept), writer.get_text(new)) == ("kept", "new")
        with Pack(path) as reader:
            assert reader.get_text(new) == "new"


def test_a_last_block_whose_bytes_never_reached_the_disk_is_written_again(path: Path) -> None:
    with Pack(path) as pack:
        kept = pack.put("kept")
        whole = path.stat().st_size
        pack.put("lost " * 20)
    data = path.read_bytes()
    path.write_bytes(data[: whole + 48] + b"\0" * (len(data) - whole - 48))
    with Pack(path) as writer:
        assert writer.get_text(writer.put("lost " * 20)) == "lost " * 20
        assert writer.get_text(kept) == "kept"
    assert path.read_bytes() == data


@given(data=st.data())
def test_a_flipped_bit_is_named_or_harmless_and_the_other_blocks_stay_readable(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("pack") / "steps.pack"
    texts = [f"block {number} " * 5 for number in range(4)]
    with Pack(path) as pack:
        refs = [pack.put(text) for text in texts]
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    wrong: list[bool] = []
    with Pack(path) as reader:
        for ref, text in zip(refs, texts, strict=True):
            try:
                assert reader.get_text(ref) == text
            except Unusable as error:
                wrong += [ref[:12] in str(error)]
    assert wrong in ([], [True])


def test_a_damaged_block_is_named(path: Path) -> None:
    with Pack(path) as pack:
        ref = pack.put("content " * 50)
        pack.put("after")
    content = bytearray(path.read_bytes())
    content[60] ^= 1
    path.write_bytes(content)
    with Pack(path) as reader, pytest.raises(Unusable, match=f"block {ref[:12]} at byte 0 is damaged"):
        reader.get(ref)


def test_threads_put_and_get_at_once(path: Path) -> None:
    with Pack(path) as pack, ThreadPoolExecutor(8) as pool:
        refs = list(pool.map(lambda number: pack.put(f"text {number % 20}"), range(200)))
        assert [text.decode() for text in pool.map(pack.get, refs)] == [
            f"text {number % 20}" for number in range(200)
        ]
        pack.sync()


def test_a_full_disk_leaves_the_pack_as_it_was(path: Path) -> None:
    with Pack(path) as pack:
        kept = pack.put("kept")
        size = path.stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
        try:
            with pytest.raises(Unusable):
                pack.put(os.urandom(1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.stat().st_size == size
        assert pack.get_text(pack.put("after")) == "after"
        assert pack.get_text(kept) == "kept"


def test_a_missing_pack_is_a_sentence(path: Path) -> None:
    with Pack(path) as pack, pytest.raises(Unusable, match=r"steps\.pack is missing"):
        pack.get("0" * 64)


def test_a_block_that_is_shown_again_is_stored_once_and_without_a_key_that_is_known_by_then(
    path: Path,
) -> None:
    text = "the word of the day is violet-harbour-lantern"
    with Pack(path) as pack:
        first, size = pack.put_blocks([("notes", text)]), path.stat().st_size
        assert pack.put_blocks([("notes", text)]) == first
        assert path.stat().st_size == size
        remember("violet-harbour-lantern")
        (kept,) = pack.get_blocks(pack.put_blocks([("notes", text)]))
        assert kept == ("notes", "the word of the day is [REDACTED:key]")


def test_what_is_kept_beside_blocks_has_no_secret_by_its_form_or_by_its_name(path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    with Pack(path) as pack:
        ref = pack.put_blocks(
            [(f"working_set: {token}.py", "x")],
            {"why": {f"working_set: {token}.py": "open"}, "password": "tr0ub4dor&3x"},
        )
        assert token not in str(pack.get_json(ref))
        assert pack.about_blocks(ref)["password"] == "[REDACTED:secret]"
