"""The reader of command lines: every part is found, what is dynamic is marked, and any text at all gives an
answer soon.
"""

import shlex
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentforge.commands.command_line import MAX_CHARS, Mark, Part, parse
from agentforge.commands.programs import RISKS
from agentforge.commands.risks import assess
from tests.depth import SOAK
from tests.fuzzing import tries
from tests.rows import every


def argvs(line: str) -> list[list[str]]:
    return [[arg.text for arg in part.argv] for part in parse(line).parts if part.argv]


def part(line: str, name: str) -> Part:
    return next(each for each in parse(line).parts if each.name == name)


@every(
    ("line", "wanted"),
    [
        ("ls -l a 'b c' \"d e\" f\\ g", [["ls", "-l", "a", "b c", "d e", "f g"]]),
        ("a; b && c || d | e & f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("r''m -r\"f\" $'\\x2f'", [["rm", "-rf", "/"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a # b; c", [["a"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("(a; b) | { c; }", [["a"], ["b"], ["c"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("while a; do b; done < f; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
        ("for i in 1 2; do a; done", [["for", "i", "in", "1", "2"], ["a"]]),
        ("case x in a|b) c;; (d) e;; esac", [["case", "x", "a", "b", "d"], ["c"], ["e"]]),
        ("[[ a < b && ( c ) ]] && d", [["[[", "a", "b", "c", "]]"], ["d"]]),
        ("a 2>&1 >b <c d", [["a", "d"]]),
        ("! a | time b", [["a"], ["b"]]),
        ("(( x = 1 )) && a", [["a"]]),
        ("{rm,-rf,/}", [["rm", "-rf", "/"]]),
        ("a /{b,c}/d", [["a", "/b/d", "/c/d"]]),
        ("echo '{a,b}' '$x'", [["echo", "{a,b}", "$x"]]),
        ("x='a b'; c $x \"$x\"", [["c", "a", "b", "a b"]]),
        ("export X=rm; $X y", [["export", "X=rm"], ["rm", "y"]]),
        ("cat <<E\n$(a)\nE\nb", [["cat"], ["a"], ["b"]]),
        ("cat <<'E'\n$(a)\nE\nb", [["cat"], ["b"]]),
        ("cat <<-E\n\tx\n\tE\nb", [["cat"], ["b"]]),
    ],
)
def test_the_commands_of_a_line_are_found(line: str, wanted: list[list[str]]) -> None:
    assert argvs(line) == wanted
    assert parse(line).problem == ""


@every(
    ("line", "inner"),
    [
        ("a $(b `c`)", ["b", "c"]),
        ('a "x $(b) y"', ["b"]),
        ("a <(b) >(c)", ["b", "c"]),
        ("a ${x:-$(b)}", ["b"]),
        ("a $((1 + $(b)))", ["b"]),
        ("a $((b) )", ["b"]),
        ("((b) )", ["b"]),
        ("[[ -n $(b) ]]", ["b"]),
        ("[[ -e <(b) ]]", ["b"]),
        ("x[$(b)]=1", ["b"]),
        ("x=(1 $(b))", ["b"]),
        ('a <<< "$(b)"', ["b"]),
        ("a > $(b)", ["b"]),
        ("for i in $(b); do :; done", ["b"]),
        ("case $(b) in x) ;; esac", ["b"]),
        ("f() { b; }", ["b"]),
        ("function f { b; }", ["b"]),
    ],
)
def test_no_command_hides_in_a_word(line: str, inner: list[str]) -> None:
    names = [each.name for each in parse(line).parts]
    assert [name for name in names if name in inner] == inner


@every(
    "line",
    [
        "sudo -u root rm x",
        "env -i A=1 B=2 rm x",
        "env -S 'rm x'",
        "nohup nice -n 5 timeout -k 3 10s rm x",
        "stdbuf -oL setsid command rm x",
        "xargs -0 -n 1 rm x",
        "find . -name y -exec rm x ;",
        "find . -name y -execdir rm x {} +",
        "fd y -x rm x",
        "sh -c 'rm x'",
        "bash -lc 'rm x'",
        "bash -o pipefail -c 'rm x'",
        "zsh -ec 'true; rm x'",
        "eval rm x",
        "eval 'rm x'",
        "trap 'rm x' EXIT",
        "alias l='rm x'",
        "su -c 'rm x' root",
        "ssh -p 22 host rm x",
        "echo 'rm x' | sh",
        "sh <<E\nrm x\nE",
        "sh <<< 'rm x'",
        "uv run --with y rm x",
        "git -c alias.z='!rm x' z",
        "git bisect run rm x",
        "git submodule foreach 'rm x'",
        "git rebase -i HEAD~2 --exec 'rm x'",
        "busybox rm x",
        "flock l rm x",
        "watch -n 1 rm x",
        "sh -c \"sh -c 'rm x'\"",
        "parallel -j 2 rm x",
        "exec -a y rm x",
        "strace -o t rm x",
        "unshare -r rm x",
        "script -c 'rm x'",
    ],
)
def test_what_runs_another_program_is_followed_by_it(line: str) -> None:
    assert ["rm", "x"] in [words[:2] for words in argvs(line)]


@every(
    ("line", "mark"),
    [
        ("echo $x", "expansion"),
        ("echo $((1))", "expansion"),
        ("echo $(x)", "substitution"),
        ("echo `x`", "substitution"),
        ("diff <(a) b", "substitution"),
        ("$x y", "computed_name"),
        ("/bin/r? x", "computed_name"),
        ("eval x", "eval"),
        ("source x", "eval"),
        (". x", "eval"),
        ("sh -c x", "shell_text"),
        ("x | sh", "shell_text"),
        ("python3 -c x", "one_liner"),
        ("python3.12 -Ic x", "one_liner"),
        ("perl -pe x", "one_liner"),
        ("ruby -e x", "one_liner"),
        ("node --eval=x", "one_liner"),
        ("node -p x", "one_liner"),
        ("php -r x", "one_liner"),
        ("deno eval x", "one_liner"),
        ("python3", "one_liner"),
        ("python3 - < x", "one_liner"),
        ("cat <<E\nE", "here_document"),
        ("f() { x; }", "function"),
        ("echo 'x", "unparsable"),
        ("if x; then", "unparsable"),
        ("x )", "unparsable"),
        ("(" * 50, "nested_too_deeply"),
        ("a;" * 5_000, "nested_too_deeply"),
        ("env " * 50, "nested_too_deeply"),
        ("$(" * 50, "nested_too_deeply"),
    ],
)
def test_what_is_dynamic_is_marked_and_at_least_high(line: str, mark: Mark) -> None:
    assert mark in parse(line).marks
    assert assess(line).risk in ("high", "critical")


def test_a_variable_that_is_set_twice_is_not_guessed() -> None:
    found = part("a=x; f() { rm -rf $a; }; a=/; f", "rm")
    assert found.argv[-1].text == "$a"
    assert not found.argv[-1].known


def test_words_in_a_list_are_never_read_as_shell() -> None:
    line = parse(("echo", "$(rm x)", "; rm y", "*"))
    assert len(line.parts) == 1
    assert line.plain_argv == ("echo", "$(rm x)", "; rm y", "*")


def test_only_one_plain_program_has_plain_words() -> None:
    assert parse("git push 'a b'").plain_argv == ("git", "push", "a b")
    for line in (
        "git push; ls",
        "git push $x",
        "git push > f",
        "A=1 git push",
        "git push *",
        "env git push",
        "git push $(x)",
        "git 'push",
    ):
        assert parse(line).plain_argv is None, line


PIECES = [
    *"ab$(){}[]<>|&;'\"`\\ \n\t#!*?~=-/:,0123",
    *(
        "rm ",
        "$(",
        "${",
        "((",
        "))",
        "<<E\n",
        "\nE\n",
        "case ",
        " in ",
        "esac",
        "for ",
        "if ",
        "do ",
        "done",
        "fi ",
        "[[ ",
        "]] ",
        "f()",
        "$'",
    ),
    *("eval ", "sh -c ", "x=", "find . -exec ", "env ", "function ", "python -c ", "xargs "),
]
SHELLISH = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@tries(150)
@given(st.one_of(st.text(max_size=200), SHELLISH))
@example("$'\\U00110000'")
@example("\x00`\\")
@example("case x in")
@example("x=$x; $x")
def test_any_text_gives_an_answer(text: str) -> None:
    found = assess(text)
    assert found.risk in RISKS
    assert len(found.parts) == len(found.line.parts)


@tries(80)
@given(st.lists(st.text(max_size=20), max_size=8))
def test_any_list_of_words_gives_an_answer(words: list[str]) -> None:
    assert assess(words).risk in RISKS


@tries(80)
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=12),
        min_size=1,
        max_size=6,
    )
)
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    line = parse(f"echo {shlex.join(words)}")
    wanted = [f"./{word}" if word.startswith("~") else word for word in words]
    assert [arg.text for arg in line.parts[0].argv[1:]] == wanted
    assert not line.marks


@tries(80)
@given(SHELLISH, st.sampled_from(["rm -rf /", "sudo id", "mkfs.ext4 /dev/sda", "cat ~/.ssh/id_rsa"]))
def test_a_critical_command_stays_critical_in_front_of_anything(tail: str, command: str) -> None:
    assert assess(f"{command}\n{tail}").risk == "critical"


UNITS = [
    *("a;", "$(", "`", "((", "$((", "{a,b}", "sh -c ", "${x:-", "<<E\n", "'a' "),
    *('"$a" ', "a|", "(a)", "\\", "a=b;", "$a ", "case a in ", "f(){ ", "env ", "find -exec "),
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    def took(length: int) -> float:
        text = f"a={'x' * 200};" + unit * (length // len(unit))
        start = time.process_time()
        assess(text)
        return time.process_time() - start

    short = 2_000 if SOAK else 400
    allowed = max(short * 150e-6, min(took(short) for _ in range(3)) * 8 * 5)
    assert any(took(8 * short) < allowed for _ in range(3))


def test_a_line_without_end_is_refused_at_once() -> None:
    assert assess("a " * MAX_CHARS).risk == "critical"
