"""Secrets out of text, before it is sent, hashed or stored."""
