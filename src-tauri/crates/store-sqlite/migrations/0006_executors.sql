-- Executors, for people and for programs that do not drive the engine. Nothing is dispatched by it.

CREATE TABLE executors (
    grp     TEXT NOT NULL,
    name    TEXT NOT NULL,
    seen    TEXT NOT NULL,
    gone_at INTEGER,
    drain   TEXT, -- who said that it is to take nothing new, and why
    PRIMARY KEY (grp, name)
) STRICT, WITHOUT ROWID;
