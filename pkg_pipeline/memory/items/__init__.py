"""Items: what somebody has to do and what was decided, over all conversations with a person (B16, B17)."""
