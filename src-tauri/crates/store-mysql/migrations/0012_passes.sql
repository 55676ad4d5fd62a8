-- Passes: who is let in at a node's API for a short while, by a digest of what they show.

CREATE TABLE IF NOT EXISTS passes (
    digest   VARBINARY(64) NOT NULL PRIMARY KEY, -- SHA-256, in hex
    who      TEXT NOT NULL,
    until_at BIGINT NOT NULL,
    KEY passes_until (until_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
