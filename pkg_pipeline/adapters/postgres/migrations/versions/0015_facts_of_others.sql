-- Facts of people known by name only, and what ends or takes the place of another.

ALTER TABLE entity_facts ALTER COLUMN entity_id DROP NOT NULL, ADD COLUMN about_name TEXT, ADD COLUMN told_by UUID,
    ADD COLUMN is_ended BOOLEAN DEFAULT false NOT NULL, ADD COLUMN replaces BOOLEAN DEFAULT false NOT NULL;
CREATE INDEX entity_facts_of_others ON entity_facts (told_by, lower(about_name)) WHERE entity_id IS NULL;
