-- More words for what a person is to me and for how often we talk.

ALTER TABLE entity_relationship_profiles
    DROP CONSTRAINT entity_relationship_profiles_relationship_type_check,
    DROP CONSTRAINT entity_relationship_profiles_frequency_check,
    ADD CONSTRAINT entity_relationship_profiles_relationship_type_check CHECK (relationship_type IN (
        'client', 'partner', 'colleague', 'friend', 'acquaintance', 'vendor', 'other', 'family', 'boss', 'landlord', 'tenant',
        'doctor', 'teacher', 'neighbour', 'unknown')),
    ADD CONSTRAINT entity_relationship_profiles_frequency_check CHECK (frequency IN (
        'daily', 'several_weekly', 'weekly', 'biweekly', 'monthly', 'quarterly', 'rare', 'ceased'));
