"""What the words of a request are called in code: their stems, names joined of several words, and the short
forms that programmers write. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from agentforge.languages.described import words
from agentforge.languages.lexed import stem, stems

WORD = re.compile(r"[A-Za-z_][\w]*")
_RUN = re.compile(r"[A-Za-z]+(?:[ -][A-Za-z]+)*")
"""Words that follow one another with nothing between them."""
_LONGEST = 3
"""So many words make one name: `static file handler`, `StaticFileHandler`."""
_GENERAL = 0.3
"""What a word counts that is in every other request: `add`, `error`."""
_SHORT_FORM = 0.8
"""What a short form counts, against the word itself."""
_GRAMMAR = frozenset(
    words(
        "a an and are as at be been being but by can could did do does for from had has have how if in into "
        "is it its may more must no not of on one only or other our out over should so some such than that "
        "the their them then there these they this to too up us was we were what when where which while who "
        "why will with would you your instead also any all each every both like per via without within please"
    )
)
_COMMON = frozenset(
    stem(word)
    for word in (
        *_GRAMMAR,
        *words(
            "make makes use used using add added adds allow allowed change changed changes fix fixed fixes "
            "new now old support supported supports get gets set sets issue bug test tests code file files "
            "function method class module value values return returns returned raise raises raised request "
            "ensure correctly wrong properly behaviour behavior case cases called call calls true false none "
            "self error errors exception exceptions argument arguments parameter parameters"
        ),
    )
)
"""Words that say nothing about where."""
_SHORT: Mapping[str, str] = {
    stem(long): short
    for short, _, longs in (
        line.partition(" ")
        for line in """\
addr address addresses
arg argument
async asynchronous asynchronously
attr attribute
auth authentication authorization authenticate
auto automatic automatically
bool boolean
char character
cert certificate
cfg configuration
cmd command
config configuration configure
conn connection
ctx context
db database
decl declaration
def definition
deg degree
del delete deletion
desc description
dest destination
dict dictionary mapping
diff difference
dir directory folder
dist distribution
doc documentation document
elem element
env environment
exc exception
exec execute execution
expr expression
ext extension
fmt format
func function
gen generator generate
id identifier
idx index
impl implementation
info information
init initialize initialise initial
int integer
iter iterator iteration iterable
lang language
len length
lib library
max maximum
min minimum
msg message
num number
obj object
op operation operator
opt option
param parameter
pkg package
pos position
prec precision
prev previous
proc process
prop property
re regex
ref reference
regex expression
repr representation
req request requirement
resp response
sep separator
seq sequence
spec specifier specification
src source
str string
stmt statement
temp temporary
tmp temporary
tok token
toc contents
tz timezone
val value
var variable
ver version""".splitlines()
    )
    for long in longs.split()
}
"""A word's stem, to what code calls it."""


def request_stems(request: str) -> list[str]:
    """The stems of a request that can tell one file from another, in order."""
    found = (part for word in WORD.findall(request) for part in stems(word))
    return list(dict.fromkeys(each for each in found if each not in _COMMON))


def wanted(request: str) -> dict[str, float]:
    """What to look for, and how much each counts: the request's own stems, what several of its words would be
    called as one name, and short forms.
    """
    found = dict.fromkeys(request_stems(request), 1.0)
    for word in WORD.findall(request):
        if word.lower() not in _GRAMMAR and (said := stem(word.lower())) in _COMMON:
            found.setdefault(said, _GENERAL)
    for joined in _joined(request):
        found.setdefault(joined, 1.0)
    for word in WORD.findall(request):
        short = _SHORT.get(stem(word.lower()))
        if short is not None and word.lower() not in _GRAMMAR:
            found.setdefault(stem(short), _SHORT_FORM)
    return found


def _joined(request: str) -> Iterator[str]:
    """`number range` is NumberRange, `automatic links` are an autolink."""
    for run in _RUN.finditer(request):
        said = [word.lower() for word in re.split("[ -]", run[0])]
        for size in range(2, _LONGEST + 1):
            for start in range(len(said) - size + 1):
                part = said[start : start + size]
                if not _GRAMMAR.intersection(part):
                    yield stem("".join(part))
        for first, second in pairwise(said):
            if _GRAMMAR.isdisjoint((first, second)):
                for form in dict.fromkeys((_SHORT.get(stem(first), first), stem(first))):
                    yield stem(form + second)
