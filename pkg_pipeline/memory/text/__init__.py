"""Text as characters: cleaning, normalising, lines, passages, languages, names, stems, timestamps, phrases."""
