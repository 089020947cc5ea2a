-- Transfers: who owns a business, what can be delivered, and the windows with their targets and tasks. Public ids hold a
-- path of up to 4 kB, more than a b-tree takes: a window is found by the SHA-256 of its id, a task by the UUID in it.

create table transfer_businesses (
  biz_id bigint primary key,
  project_id text not null,
  created_at bigint not null
);

create table transfer_agents (
  project_id text primary key,
  patterns text not null
);

create table repository_files (
  project_id text not null,
  path_hash text not null,
  signature text not null,
  path text not null,
  size bigint not null,
  artifact_key text not null,
  put_at bigint not null,
  superseded_at bigint,
  primary key (project_id, path_hash, signature)
);
create index repository_files_superseded on repository_files (superseded_at) where superseded_at is not null;

create table transfer_windows (
  id text primary key,
  public_id text not null,
  job_id text,
  project_id text not null,
  biz_id bigint not null,
  app_id bigint not null,
  full_path text not null,
  file_name text not null,
  signature text not null,
  artifact_key text,
  bucket bigint not null,
  ends_at bigint not null,
  status text not null check (status in ('Pending', 'Running', 'Success', 'Failed', 'Timeout')),
  version integer not null default 0,
  engine_task_id text,
  created_at bigint not null,
  executed_at bigint,
  deadline_at bigint,
  finished_at bigint
);
create index transfer_windows_of_job on transfer_windows (job_id);

-- No foreign keys: they would cost each of ten thousand joins a lock on the same parent. The window's rows are deleted
-- together when its job is.
create table transfer_targets (
  id text primary key,
  window_id text not null,
  agent_id text not null,
  container_id text not null,
  owner text not null,
  directory text not null,
  status text not null check (status in ('Pending', 'Running', 'Success', 'Failed', 'Timeout')),
  error_code integer not null default 0,
  error_message text not null default '',
  progress integer not null default 0
);
create index transfer_targets_of_window on transfer_targets (window_id);

create table transfer_tasks (
  id text primary key,
  target_id text not null,
  created_at bigint not null
);
create index transfer_tasks_of_target on transfer_tasks (target_id);

-- Events name a transfer by its public id, so their index must take long texts too.
--@postgres
drop index events_of_task;
create index events_of_task on events using hash (task_id);
--@all
