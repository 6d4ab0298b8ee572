"""Export files and agent threads → chats, entities, messages."""
