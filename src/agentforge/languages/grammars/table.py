"""What each grammar calls the things that we look for. One more language is a row here, and a wheel in the
extra `code`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentforge.languages.described import words
from agentforge.languages.values import Kind


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language is read."""

    name: str
    suffixes: tuple[str, ...]
    module: str
    """The wheel's module."""
    factory: str
    """The function of it that returns the grammar."""
    kinds: Mapping[str, Kind]
    """Type of a node that defines something, and what that is."""
    through: frozenset[str]
    """Types of nodes whose children are definitions of what is around them."""
    empty_body: str = ""
    """The body of a function that does nothing and gives back something which goes along with all that is
    done to it; `ANSWER` is whether it counts as true. Empty: what is given back must be of a certain type.
    """


_SCRIPT_KINDS: Mapping[str, Kind] = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "interface_declaration": "class",
    "enum_declaration": "class",
    "type_alias_declaration": "class",
    "internal_module": "class",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "function_signature": "function",
    "method_definition": "function",
    "method_signature": "function",
    "abstract_method_signature": "function",
    "variable_declarator": "variable",
}
_SCRIPT_THROUGH = words(
    "program export_statement class_body interface_body object_type statement_block lexical_declaration "
    "variable_declaration expression_statement ambient_declaration"
)

_SCRIPT_EMPTY = """\
{ if (!ANSWER) { return 0; }
  const kept = Symbol.for("left out");
  return (globalThis[kept] ??= new Proxy(function () {}, {
    get: (_, name) =>
      name === Symbol.toPrimitive ? () => 1
        : name === Symbol.iterator ? function* () { yield globalThis[kept]; }
          : name === "then" ? undefined : globalThis[kept],
    apply: () => globalThis[kept], construct: () => globalThis[kept], has: () => true, set: () => true,
  })); }"""

GRAMMARS: tuple[Grammar, ...] = (
    Grammar(
        "TypeScript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        "language_typescript",
        _SCRIPT_KINDS,
        _SCRIPT_THROUGH,
        _SCRIPT_EMPTY,
    ),
    Grammar(
        "TSX",
        (".tsx",),
        "tree_sitter_typescript",
        "language_tsx",
        _SCRIPT_KINDS,
        _SCRIPT_THROUGH,
        _SCRIPT_EMPTY,
    ),
    Grammar(
        "JavaScript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        "language",
        _SCRIPT_KINDS,
        _SCRIPT_THROUGH,
        _SCRIPT_EMPTY,
    ),
    Grammar(
        "Go",
        (".go",),
        "tree_sitter_go",
        "language",
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "class",
            "type_alias": "class",
            "const_spec": "variable",
            "var_spec": "variable",
        },
        words("source_file type_declaration const_declaration var_declaration var_spec_list"),
    ),
    Grammar(
        "Rust",
        (".rs",),
        "tree_sitter_rust",
        "language",
        {
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "class",
            "enum_item": "class",
            "union_item": "class",
            "trait_item": "class",
            "impl_item": "class",
            "mod_item": "class",
            "type_item": "class",
            "const_item": "variable",
            "static_item": "variable",
            "macro_definition": "function",
        },
        words("source_file declaration_list"),
    ),
    Grammar(
        "Java",
        (".java",),
        "tree_sitter_java",
        "language",
        {
            "class_declaration": "class",
            "interface_declaration": "class",
            "enum_declaration": "class",
            "record_declaration": "class",
            "annotation_type_declaration": "class",
            "method_declaration": "function",
            "constructor_declaration": "function",
        },
        words("program class_body interface_body enum_body enum_body_declarations annotation_type_body"),
    ),
)


def grammar_of(path: str) -> Grammar | None:
    """The grammar of a file by its suffix."""
    return next((each for each in GRAMMARS if path.endswith(each.suffixes)), None)
