"""LLM providers: one port, one module per wire."""
