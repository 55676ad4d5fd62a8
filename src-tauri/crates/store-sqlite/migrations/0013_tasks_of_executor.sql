-- What an executor does and did, newest first.
CREATE INDEX tasks_of_executor ON tasks (executor_group, executor_name, instance_seq, seq) WHERE executor_name IS NOT NULL;
