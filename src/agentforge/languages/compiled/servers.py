"""The language servers of Go, Rust, Java, C and C++."""

from agentforge.languages.servers.described import LanguageServer

GOPLS = LanguageServer("gopls", ("gopls", "serve"), {".go": "go"})
RUST_ANALYZER = LanguageServer(
    "rust-analyzer",
    ("rust-analyzer",),
    {".rs": "rust"},
    options={"checkOnSave": False, "cargo": {"buildScripts": {"enable": False}}},
    says_when_ready=True,
)
JDTLS = LanguageServer("jdtls", ("jdtls", "-data", "{scratch}/jdtls"), {".java": "java"})
_C = {".c": "c", ".h": "cpp"}
CLANGD = LanguageServer(
    "clangd",
    ("clangd", "--background-index=false"),
    {**_C, **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp"), "cpp")},
)
