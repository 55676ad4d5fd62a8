-- Firings that no clock plans: chains of jobs, questions to people, backfills.

-- Which jobs run after which, by the names that their versions say.
CREATE TABLE chains (
    upstream TEXT NOT NULL,
    job      BLOB NOT NULL,
    PRIMARY KEY (upstream, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX chains_of_job ON chains (job);

-- Ends of instances, as they wait for a job that follows.
CREATE TABLE endings (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    job      BLOB NOT NULL,
    upstream BLOB NOT NULL,
    instance BLOB NOT NULL,
    state    TEXT NOT NULL,
    at       INTEGER NOT NULL,
    kept     INTEGER NOT NULL DEFAULT 0 -- 1: it was looked at, and waits for others
) STRICT;
CREATE INDEX endings_new ON endings (seq) WHERE kept = 0;
CREATE INDEX endings_of_job ON endings (job, seq);

CREATE TABLE questions (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL UNIQUE,
    job      BLOB NOT NULL,
    version  INTEGER NOT NULL,
    from_at  INTEGER NOT NULL,
    to_at    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    until_at INTEGER NOT NULL,
    answer   TEXT
) STRICT;
CREATE INDEX questions_open ON questions (until_at, seq) WHERE answer IS NULL;
CREATE INDEX questions_by_time ON questions (asked_at, seq);

CREATE TABLE backfills (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         BLOB NOT NULL UNIQUE,
    job        BLOB NOT NULL,
    version    INTEGER NOT NULL,
    from_at    INTEGER NOT NULL,
    to_at      INTEGER NOT NULL,
    through_at INTEGER NOT NULL,
    planned    INTEGER NOT NULL,
    made       INTEGER NOT NULL,
    asked_by   TEXT NOT NULL,
    asked_at   INTEGER NOT NULL,
    ended      TEXT
) STRICT;
CREATE INDEX backfills_open ON backfills (seq) WHERE ended IS NULL;
CREATE INDEX backfills_of_job ON backfills (job, seq);
CREATE INDEX backfills_by_time ON backfills (asked_at, seq);
