"""What an emptied function gives back where the compiler demands a value of its type: the plainest one, and,
for the opposite answer, one that is not. The rest of the function stays behind it, so that nothing that is
imported or declared for it goes unused.
"""

import re
from collections.abc import Callable, Mapping

from agentforge.languages.described import words

_GO_NUMBERS = words(
    "int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32 float64 byte rune"
)
_RUST_NUMBERS = words("i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize")
_JAVA_NUMBERS = words("int long short byte char float double")
_GO_TYPE_WORDS = frozenset({"chan", "func", "map", "struct", "interface"})
_RUST_ARGUMENT = re.compile(r"(?P<outer>Option|Vec|Box|Result)\s*<(?P<inner>.*)>", re.DOTALL)


def go(result: str, *, answer: bool) -> str | None:
    """Statements that end a function of Go with these results."""
    types = _go_results(result)
    if not answer:
        declared = "".join(f"var left{at} {kind}; " for at, kind in enumerate(types))
        return f"{declared}return {', '.join(f'left{at}' for at in range(len(types)))}"
    values = [_go_value(kind) for kind in types]
    return None if None in values else f"return {', '.join(value for value in values if value)}"


def _go_value(kind: str) -> str | None:
    if kind in _GO_NUMBERS:
        return "1"
    if kind.startswith("[]"):
        return f"make({kind}, 1)"
    if kind.startswith("*"):
        return f"new({kind[1:]})"
    return {"bool": "true", "string": '"left out"'}.get(kind)


def _go_results(result: str) -> list[str]:
    """The types of what a function gives back, named or not."""
    text = result.strip()
    if not text.startswith("("):
        return [text] if text else []
    parts = split_types(text[1:-1])
    named = [re.match(r"([A-Za-z_]\w*)\s+(\S.*)", part, re.DOTALL) for part in parts]
    if not any(found and found[1] not in _GO_TYPE_WORDS for found in named):
        return parts
    types, waiting = [], 0
    for found in named:
        waiting += 1
        if found:
            types += [found[2]] * waiting
            waiting = 0
    return types


def rust(result: str, *, answer: bool) -> str | None:
    """The statement that ends a function of Rust with this result."""
    value = _rust_value(result.strip() or "()", answer=answer)
    return f"return {value};" if value is not None else None


def _rust_value(kind: str, *, answer: bool) -> str | None:
    plain = {
        "()": "()",
        "bool": str(answer).lower(),
        "f32": f"{int(answer)}.0",
        "f64": f"{int(answer)}.0",
        "char": "'x'" if answer else "' '",
        "String": 'String::from("left out")' if answer else "String::new()",
        "&str": '"left out"' if answer else '""',
        "&'static str": '"left out"' if answer else '""',
        **dict.fromkeys(_RUST_NUMBERS, str(int(answer))),
    }
    if kind in plain:
        return plain[kind]
    if (found := _RUST_ARGUMENT.fullmatch(kind)) is None:
        return None
    if not answer and found["outer"] in ("Option", "Vec"):
        return {"Option": "None", "Vec": "Vec::new()"}[found["outer"]]
    inner = _rust_value(split_types(found["inner"])[0], answer=answer)
    written = {"Option": "Some({})", "Vec": "vec![{}]", "Box": "Box::new({})", "Result": "Ok({})"}
    return None if inner is None else written[found["outer"]].format(inner)


def java(result: str, *, answer: bool) -> str | None:
    """The statement that ends a method of Java with this result."""
    kind = result.strip()
    if kind == "void":
        return "return;"
    if kind == "boolean":
        return f"return {str(answer).lower()};"
    if kind in _JAVA_NUMBERS:
        return f"return {int(answer)};"
    if kind == "String":
        return 'return "left out";' if answer else 'return "";'
    return None if answer else "return null;"


MAKES_AN_OBJECT = (None, "Self")
"""The result of a function that cannot do without its body."""
TYPED: Mapping[str, tuple[Callable[..., str | None], str]] = {
    "Go": (go, "if true { %s };"),
    "Rust": (rust, "if true { %s }"),
    "Java": (java, "if (true) { %s }"),
}
"""By the name of a grammar: what ends a function early, and how that is written."""


def split_types(text: str) -> list[str]:
    """A list of types at its own commas, those in brackets left alone."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]
