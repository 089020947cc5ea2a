-- Requests that are kept under a name, when they are due, and what came of them.
create table saved_exports (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  request text not null,
  parameters text not null,
  cron text,
  timezone text,
  due_at bigint,
  wake_at bigint,
  last_run_id text,
  trouble_code text,
  trouble_message text,
  trouble_since bigint,
  created_at bigint not null,
  updated_at bigint not null,
  unique (project_id, name)
);
create index saved_exports_to_wake on saved_exports (wake_at) where wake_at is not null;

create table saved_export_runs (
  id text primary key,
  saved_id text not null references saved_exports (id) on delete cascade,
  due_at bigint,
  task_id text references tasks (id) on delete cascade,
  parameters text not null,
  error_code text,
  error_message text,
  created_at bigint not null
);
-- One run per due time, whoever fires.
create unique index saved_export_runs_due on saved_export_runs (saved_id, due_at) where due_at is not null;
create index saved_export_runs_by_age on saved_export_runs (saved_id, created_at, id);
create index saved_export_runs_of_task on saved_export_runs (task_id) where task_id is not null;
