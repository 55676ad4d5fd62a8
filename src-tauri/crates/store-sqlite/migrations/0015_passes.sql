-- Passes: who is let in at a node's API for a short while, by a digest of what they show.

CREATE TABLE passes (
    digest   TEXT PRIMARY KEY, -- SHA-256, in hex
    who      TEXT NOT NULL,
    until_at INTEGER NOT NULL
) STRICT;
CREATE INDEX passes_until ON passes (until_at);
