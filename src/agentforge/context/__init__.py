"""What a step sees: a fixed structure under a hard cap, rebuilt from state every time."""
