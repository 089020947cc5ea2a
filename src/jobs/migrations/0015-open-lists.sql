-- Lists of what is open, and of one operator, are read without what has ended.

create index tasks_of_label on tasks (project_id, kind, label, created_at, id) where label is not null;

create index processing_tasks_unfinished_of_project on processing_tasks (project_id, id)
  where status in ('PENDING', 'PROCESSING');

create index transfer_windows_open on transfer_windows (created_at, id) where status in ('Pending', 'Running');
create index transfer_windows_open_of_project on transfer_windows (project_id, created_at, id)
  where status in ('Pending', 'Running');
create index transfer_windows_of_engine_task on transfer_windows (engine_task_id) where engine_task_id is not null;
