-- Who have I promised something that is overdue?
SELECT array_to_string(entity_names, ', ') AS owed_to, due_on, days_overdue, description
FROM marts.action_items
WHERE owner IN ('self', 'both') AND is_overdue
ORDER BY days_overdue DESC, item_id
LIMIT 10;
