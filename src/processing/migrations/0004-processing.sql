-- One row a task of the processing domain. Embedded it is the task; beside Redis it is what a Redis that lost its memory
-- is filled from again, and follows what processors write there.
create table processing_tasks (
  id text primary key,
  project_id text,
  file_name text not null,
  size bigint not null,
  original_file_path text not null,
  status text not null check (status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'REVOKED')),
  result_path text not null default '',
  error_message text not null default '',
  progress text,
  -- Shown by whoever writes for a claim; a newer claim has a higher one.
  fence integer not null default 0,
  -- How often it was put back after its processor had gone.
  returns integer not null default 0,
  queued_at bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  -- The `updated_at` last seen in Redis, as it stands there, and when (by the ledger's clock) it was seen to change.
  seen text not null default '',
  seen_at bigint not null,
  expires_at bigint not null
);
create index processing_tasks_queued on processing_tasks (queued_at, id) where status = 'PENDING';
create index processing_tasks_unfinished on processing_tasks (id) where status in ('PENDING', 'PROCESSING');
create index processing_tasks_revoked on processing_tasks (id) where status = 'REVOKED';
create index processing_tasks_to_delete on processing_tasks (expires_at);
