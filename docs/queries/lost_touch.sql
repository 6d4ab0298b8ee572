-- Whom have I not really talked to for 90 days?
SELECT entities.name, newest.frequency, newest.last_day, today - newest.last_day AS days_ago, newest.open_action_items
FROM marts.memory_day
CROSS JOIN LATERAL (
    SELECT DISTINCT ON (entity_id) *, (last_meaningful_contact_at AT TIME ZONE timezone)::date AS last_day
    FROM marts.relationships_weekly
    ORDER BY entity_id, week DESC
) AS newest
JOIN pkg.entities ON entities.id = newest.entity_id
WHERE today - newest.last_day > 90
  -- of a name with several accounts another one may be in touch
  AND NOT EXISTS (SELECT FROM pkg.entities AS other WHERE other.name = entities.name AND other.id <> entities.id)
ORDER BY days_ago DESC, entities.name;
