-- Without Redis a task is a job of the engine, which keeps the queue; tasks without a job get one at the next start. The columns
-- `fence` and `progress` are no longer used; they stay for instances of version 0.2.0 that run beside newer ones.
drop index processing_tasks_queued;
