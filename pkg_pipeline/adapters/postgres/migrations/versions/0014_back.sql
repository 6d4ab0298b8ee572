-- The new words as the nearest of those before.

UPDATE entity_relationship_profiles SET
    relationship_type = CASE
        WHEN relationship_type IN ('family', 'doctor', 'teacher') THEN 'other' WHEN relationship_type = 'boss' THEN 'colleague'
        WHEN relationship_type = 'landlord' THEN 'vendor' WHEN relationship_type = 'tenant' THEN 'client'
        WHEN relationship_type IN ('neighbour', 'unknown') THEN 'acquaintance' ELSE relationship_type END,
    frequency = CASE frequency
        WHEN 'several_weekly' THEN 'weekly' WHEN 'biweekly' THEN 'monthly' WHEN 'ceased' THEN 'rare' ELSE frequency END
WHERE relationship_type IN ('family', 'boss', 'landlord', 'tenant', 'doctor', 'teacher', 'neighbour', 'unknown')
   OR frequency IN ('several_weekly', 'biweekly', 'ceased');
ALTER TABLE entity_relationship_profiles
    DROP CONSTRAINT entity_relationship_profiles_relationship_type_check,
    DROP CONSTRAINT entity_relationship_profiles_frequency_check,
    ADD CONSTRAINT entity_relationship_profiles_relationship_type_check CHECK (relationship_type IN (
        'client', 'partner', 'colleague', 'friend', 'acquaintance', 'vendor', 'other')),
    ADD CONSTRAINT entity_relationship_profiles_frequency_check CHECK (frequency IN (
        'daily', 'weekly', 'monthly', 'quarterly', 'rare'));
