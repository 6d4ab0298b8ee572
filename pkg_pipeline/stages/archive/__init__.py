"""Old texts → the archive and back; erasing a chat."""
