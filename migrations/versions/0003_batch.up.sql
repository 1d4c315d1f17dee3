-- What loads over hours need: where each of them stands.

CREATE TABLE pgbraid.checkpoint (
    collection_id bigint NOT NULL,
    name text NOT NULL,
    position bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT checkpoint_pkey PRIMARY KEY (collection_id, name),
    CONSTRAINT checkpoint_collection_fkey FOREIGN KEY (collection_id)
    REFERENCES pgbraid.collection (id) ON DELETE CASCADE,
    CONSTRAINT checkpoint_position_check CHECK (position >= 0)
);
COMMENT ON TABLE pgbraid.checkpoint IS 'A load that has not come to its end: how many of its documents are written.';
