"""The neighbours: programs and services of other people that AgentForge tells or asks. Only `app` knows
them.
"""
