-- Clear the stages away, so that a caller's long transaction can hold several batches.

DROP TABLE pg_temp.pgbraid_document_stage, pg_temp.pgbraid_chunk_stage, pg_temp.pgbraid_word_stage
