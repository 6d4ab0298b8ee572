"""``ports.Llm`` over the Anthropic API, prices, errors, retries."""
