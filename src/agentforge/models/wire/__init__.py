"""The bytes of each provider, through `pydantic-ai`. Import what is in here only where a request is about to
be sent: it is heavy.
"""
