"""Messages → interactions with participants."""
