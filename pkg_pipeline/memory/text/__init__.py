"""Text as characters: how it is cleaned, compared, cut into lines, sentences and passages, and in which language it is.

Also what is printed in each language (``phrases``), marks of ours in a text, names and stems of words, and timestamps.
Nothing here knows a message, a summary or a gate.
"""
