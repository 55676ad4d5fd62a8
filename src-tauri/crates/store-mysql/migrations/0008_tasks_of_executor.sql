-- What an executor does and did, newest first.
ALTER TABLE tasks ADD KEY tasks_of_executor (executor_group, executor_name, instance_seq, seq);
