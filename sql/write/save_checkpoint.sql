-- Remember how many documents of a load are written, should it be interrupted.
-- param collection_id bigint
-- param name          text
-- param position      bigint

INSERT INTO pgbraid.checkpoint AS c (collection_id, name, position)
VALUES (%(collection_id)s::bigint, %(name)s::text, %(position)s::bigint)
ON CONFLICT ON CONSTRAINT checkpoint_pkey DO UPDATE SET position = excluded.position, updated_at = now()
