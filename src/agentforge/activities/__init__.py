"""Effects made real. An activity does what an effect says and reports what came of it; it decides nothing."""
