"""Rules for messages: content blocks, importance, attribution, turns, archiving, deletions."""
