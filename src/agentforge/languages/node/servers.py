"""The language server of JavaScript and TypeScript."""

from agentforge.languages.servers.described import LanguageServer

_SCRIPT = dict.fromkeys((".js", ".mjs", ".cjs"), "javascript")
_TYPED = dict.fromkeys((".ts", ".mts", ".cts"), "typescript")
_IDS = {**_SCRIPT, ".jsx": "javascriptreact", **_TYPED, ".tsx": "typescriptreact"}
SERVERS = (LanguageServer("typescript-language-server", ("typescript-language-server", "--stdio"), _IDS),)
