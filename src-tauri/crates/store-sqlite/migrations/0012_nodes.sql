-- The nodes of a team, each as it last said of itself. On a data folder there is one at most.

CREATE TABLE nodes (
    node    TEXT PRIMARY KEY, -- of one life
    seen_at INTEGER NOT NULL,
    entry   TEXT NOT NULL
) STRICT;
CREATE INDEX nodes_seen ON nodes (seen_at);
