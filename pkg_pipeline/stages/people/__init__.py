"""Who is who: what a person decides about accounts, and what is suggested (B20)."""
