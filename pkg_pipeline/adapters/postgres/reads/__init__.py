"""The store of reads: contexts, entities, histories, receipts."""
