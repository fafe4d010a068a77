"""The data of AgentForge: pipelines, stages, agents and contracts as YAML, and the code that reads them."""
