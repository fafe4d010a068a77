"""The dialects of the compiled languages, by their names."""

from agentforge.languages.compiled.go import DIALECT as GO
from agentforge.languages.compiled.java import DIALECT as JAVA
from agentforge.languages.compiled.rust import DIALECT as RUST

__all__ = ["GO", "JAVA", "RUST"]
