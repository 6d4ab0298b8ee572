"""Text as characters: cleaning, language, lines, times, names, words."""
