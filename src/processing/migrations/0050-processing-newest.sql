-- An id that was made of an Idempotency-Key says nothing about time: lists are in the order of creation.
create index processing_tasks_newest on processing_tasks (created_at, id);
create index processing_tasks_newest_of_project on processing_tasks (project_id, created_at, id);
create index processing_tasks_unfinished_newest on processing_tasks (created_at, id)
  where status in ('PENDING', 'PROCESSING');
create index processing_tasks_unfinished_newest_of_project on processing_tasks (project_id, created_at, id)
  where status in ('PENDING', 'PROCESSING');
drop index processing_tasks_of_project;
drop index processing_tasks_unfinished_of_project;
