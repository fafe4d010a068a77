"""Text as a person may be shown it, its commands as they work here, apart from how it is printed: a list in
a pipe needs no more.
"""

from agentforge.system.visible import harmless

_OWN_SETTINGS = "your config.yaml"
"""How sentences of every layer call the user's own settings; whoever reads them sees where that file is."""


def safe(text: str) -> str:
    """The text as a person may be shown it."""
    if _OWN_SETTINGS in text:
        text = text.replace(_OWN_SETTINGS, _own_settings())
    if "agentforge " in text or "git " in text:
        from agentforge.surfaces.cli.pasting import pasteable

        text = pasteable(text)
    return as_it_is(text)


def as_it_is(text: str) -> str:
    """Text of somebody else, or for somebody else: nothing is taken for a sentence of ours."""
    from agentforge.system.secrets.redact import redact  # not before something is said: `--help` is quick

    return harmless(redact(text)[0])


def _own_settings() -> str:
    from agentforge.core.errors import UsageError
    from agentforge.store.site import home_path

    try:
        return str(home_path() / "config.yaml")
    except UsageError:  # the home is no directory, which is said elsewhere
        return _OWN_SETTINGS
