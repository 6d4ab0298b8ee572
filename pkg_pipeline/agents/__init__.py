"""The memory inside LangChain agents: the middleware that trims prompts, the tool that recalls. Needs the extra."""
