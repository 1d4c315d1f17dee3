"""One migration for each revision of the schema; a test keeps them complete."""
