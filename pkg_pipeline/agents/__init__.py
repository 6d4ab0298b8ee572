"""The memory in LangChain agents: prompt middleware and recall tool. Needs the extra."""
