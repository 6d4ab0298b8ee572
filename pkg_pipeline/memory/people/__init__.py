"""Who is who: accounts that are one person, and which ones may be (B20)."""
