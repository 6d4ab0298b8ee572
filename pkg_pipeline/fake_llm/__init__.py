"""A local server that speaks the Anthropic protocol, for tests and trials without a key."""
