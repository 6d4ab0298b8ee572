"""One message: content blocks, importance, whom it belongs to, where a chat is cut, archiving, deletion."""
