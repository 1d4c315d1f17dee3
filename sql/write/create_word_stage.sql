-- A place for the words of one batch with their ids; gone with the transaction.

CREATE TEMPORARY TABLE pgbraid_word_stage (
    word text PRIMARY KEY,
    id bigint NOT NULL,
    is_new boolean NOT NULL,
    chunks integer NOT NULL
) ON COMMIT DROP
