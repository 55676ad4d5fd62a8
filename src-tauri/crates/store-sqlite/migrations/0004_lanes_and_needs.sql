-- What decides whether a ready task may go, its way up the lanes, and instances of several tasks.

ALTER TABLE tasks ADD COLUMN need TEXT NOT NULL DEFAULT '';  -- tasks with equal needs can go, or wait, for the same reasons
ALTER TABLE tasks ADD COLUMN tenant TEXT;                     -- as in `need`
ALTER TABLE tasks ADD COLUMN expires_at INTEGER;
ALTER TABLE tasks ADD COLUMN lane_since INTEGER;
ALTER TABLE tasks ADD COLUMN promote_at INTEGER;              -- by the clock of the lanes, which stands still during a hold
ALTER TABLE tasks ADD COLUMN promotions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN handed_back INTEGER NOT NULL DEFAULT 0;

UPDATE tasks SET need = json_object('group', grp, 'processor', processor);
UPDATE tasks SET lane_since = ready_at,
                 promote_at = ready_at + CASE lane WHEN 1 THEN 30000 WHEN 2 THEN 60000 WHEN 3 THEN 300000
                                                   WHEN 4 THEN 1800000 END
WHERE state = 101;

DROP INDEX tasks_ready;
CREATE INDEX tasks_ready ON tasks (need, lane, lane_since, seq, ready_at, promotions) WHERE state = 101;
CREATE INDEX tasks_promotable ON tasks (promote_at, seq) WHERE state = 101 AND promote_at IS NOT NULL;
CREATE INDEX tasks_expiring ON tasks (expires_at, seq) WHERE state = 101 AND expires_at IS NOT NULL;
DROP INDEX tasks_held;
CREATE INDEX tasks_held ON tasks (executor_group, executor_name, executor_boot, seq, job, tenant)
    WHERE state IN (201, 202, 203);

ALTER TABLE instances ADD COLUMN executor TEXT;               -- picked by a person
ALTER TABLE instances ADD COLUMN failure TEXT;
ALTER TABLE instances ADD COLUMN several INTEGER NOT NULL DEFAULT 0;
CREATE INDEX instances_several ON instances (seq) WHERE several = 1 AND state IN ('waiting', 'running');
