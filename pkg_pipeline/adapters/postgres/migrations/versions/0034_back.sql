-- A decision holds until it is replaced. Views of the marts go with the function; the next run makes them anew.

DROP FUNCTION item_status_until CASCADE;

ALTER TABLE items DROP COLUMN holds_until;
