"""The offline summariser's name: raised when its answers change, since it is part of what makes a summary stale (B5).

Apart from the summariser itself, whose word lists take most of a second to load.
"""

MODEL = "offline-extractive-1"
