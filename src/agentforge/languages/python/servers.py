"""The language servers of Python, those that know types best first."""

from agentforge.languages.servers.described import LanguageServer

_IDS = {".py": "python", ".pyi": "python"}
_WHOLE = {"python": {"analysis": {"diagnosticMode": "openFilesOnly", "useLibraryCodeForTypes": True}}}
SERVERS = (
    LanguageServer("pyright", ("pyright-langserver", "--stdio"), _IDS, settings=_WHOLE),
    LanguageServer("basedpyright", ("basedpyright-langserver", "--stdio"), _IDS, settings=_WHOLE),
    LanguageServer("ty", ("ty", "server"), _IDS),
    LanguageServer("pyrefly", ("pyrefly", "lsp"), _IDS),
    LanguageServer("jedi-language-server", ("jedi-language-server",), _IDS),
    LanguageServer("pylsp", ("pylsp",), _IDS),
)
