"""Who is who: a person's decisions, the persons that follow, suggestions (B20)."""
