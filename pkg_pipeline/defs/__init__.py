"""When and where: thin Dagster objects, one file per concept."""
