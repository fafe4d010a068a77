"""Behaviour around a model: tracing, rate limit, breaker, recording, retry."""
