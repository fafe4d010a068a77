"""What of a document a reader sees: comments and elements that no page shows are no part of it."""

import re

_TOKEN = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?)??(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?:[^\n]|\n(?!\n)){1,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<tag></?(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<given>(?:\s+[^<>]*)?)>)",
    re.DOTALL | re.MULTILINE,
)
_NEVER_SHOWN = frozenset({"script", "style", "template", "noscript", "head"})
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "source", "wbr"})
_HIDES = re.compile(
    r"(?<![\w-])hidden(?![\w-])"
    r"|display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0*(?![.\d])"
    r"|font-size\s*:\s*0*\.?0*(?![.\d])|(?<![\w-])color\s*:\s*transparent",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """The text with blank lines where nobody sees anything; code stands as it is."""
    kept: list[str] = []
    at, inside, depth = 0, "", 0
    for found in _TOKEN.finditer(text):
        if inside:
            if found["tag"] and found["name"].lower() == inside:
                depth += -1 if found["tag"].startswith("</") else not found["tag"].endswith("/>")
            if not depth:
                kept.append(_blank(text[at : found.end()]))
                at, inside = found.end(), ""
        elif found["comment"]:
            kept += (text[at : found.start()], _blank(found[0]))
            at = found.end()
        elif found["tag"] and not found["tag"].startswith("</") and _is_hidden(found):
            kept.append(text[at : found.start()])
            at = found.start()
            if found["name"].lower() not in _VOID and not found["tag"].endswith("/>"):
                inside, depth = found["name"].lower(), 1
    rest = text[at:]
    return "".join((*kept, _blank(rest) if inside else rest))


def _is_hidden(tag: re.Match[str]) -> bool:
    return tag["name"].lower() in _NEVER_SHOWN or _HIDES.search(_attributes(tag["given"])) is not None


def _attributes(given: str) -> str:
    """What can hide an element: its style, and the names of its attributes."""
    styles = re.findall(r"style\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)", given, re.IGNORECASE)
    names = re.sub(r"=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", " ", given)
    return " ".join((names, *styles))


def _blank(text: str) -> str:
    return "\n" * text.count("\n")
