"""PostgreSQL: tables, named SQL, migrations and one store per stage."""
