"""Lists in documents whose shape nobody has checked: artifacts of models, records of gates."""

from agentforge.core.reply import Json


def texts(value: object, *keys: str) -> list[str]:
    """The texts at a path of a document; an empty list where there are none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return [str(item) for item in value] if isinstance(value, list) else []


def objects(value: object, *keys: str) -> list[dict[str, Json]]:
    """The objects at a path of a document; an empty list where there are none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
