"""The store of the archive and of erasing."""
