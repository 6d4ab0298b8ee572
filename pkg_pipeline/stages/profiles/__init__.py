"""Published summaries → relationship profiles, one a week."""
