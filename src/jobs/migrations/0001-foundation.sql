-- The tables under every domain. Lines between --@postgres or --@sqlite and --@all are for that dialect only.

--@postgres
create function wharf_now() returns bigint language sql volatile as
  $$ select (extract(epoch from clock_timestamp()) * 1000)::bigint $$;
--@all

create table projects (
  id text primary key,
  name text not null,
  api_key_hash text not null,
  api_key_old_hash text,
  api_key_old_until bigint,
  webhook_secret text not null,
  webhook_secret_old text,
  webhook_secret_old_until bigint,
  created_at bigint not null,
  deleted_at bigint
);

create table jobs (
  id text primary key,
  kind text not null,
  lane text,
  owner text,
  share_key text,
  state text not null check (state in ('waiting', 'pending', 'running', 'succeeded', 'failed', 'cancelled')),
  payload text not null,
  progress text,
  result text,
  error_code text,
  error_message text,
  attempts integer not null default 0,
  crashes integer not null default 0,
  fence integer not null default 0,
  worker text,
  lease_until bigint,
  due_at bigint not null,
  wake_at bigint,
  wakes integer not null default 0,
  live_tasks integer not null default 0,
  cancel_requested integer not null default 0,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint,
  delete_after bigint,
  event_type text,
  event_data text
);
-- Identical requests find each other here; a job that is being cancelled takes no more callers.
create unique index jobs_shared on jobs (share_key)
  where share_key is not null and state in ('waiting', 'pending', 'running') and cancel_requested = 0;
create index jobs_in_lane on jobs (lane, state, created_at, id)
  where lane is not null and state in ('waiting', 'pending', 'running');
create index jobs_to_wake on jobs (wake_at) where state = 'pending';
create index jobs_leased on jobs (lease_until) where state = 'running';
create index jobs_of_worker on jobs (worker) where state = 'running';
create index jobs_to_delete on jobs (delete_after) where delete_after is not null;

create table tasks (
  id text primary key,
  job_id text not null references jobs (id) on delete cascade,
  kind text not null,
  project_id text,
  label text,
  details text not null,
  created_at bigint not null,
  cancelled_at bigint,
  event_type text,
  event_data text
);
create index tasks_of_job on tasks (job_id);
create index tasks_of_project on tasks (project_id, kind, created_at, id);

-- On PostgreSQL an id is taken before the commit, so a later id can become visible first. There, `seq` is given after
-- the commit by whoever reads next (see events/event-log.ts); SQLite has one writer, and its key is the order.
create table events (
--@postgres
  id bigserial primary key,
  seq bigint unique,
--@sqlite
  seq integer primary key autoincrement,
--@all
  type text not null,
  kind text not null,
  project_id text,
  task_id text,
  job_id text,
  data text not null,
  at bigint not null
);
--@postgres
create index events_unnumbered on events (id) where seq is null;
--@all
create index events_of_project on events (project_id, seq);
create index events_of_task on events (task_id, seq);
create index events_by_age on events (at);

-- Setting event_data tells: the event is appended by the statement that makes the change (see events/telling.ts). A job
-- tells for each of its tasks, a task for itself.
--@postgres
create function wharf_tell_job() returns trigger language plpgsql as
  $$ begin
    insert into events (type, kind, project_id, task_id, job_id, data, at)
      select new.event_type, kind, project_id, id, job_id, new.event_data, wharf_now()
      from tasks
      where job_id = new.id and cancelled_at is null;
    return null;
  end $$;
create function wharf_tell_task() returns trigger language plpgsql as
  $$ begin
    insert into events (type, kind, project_id, task_id, job_id, data, at)
      values (new.event_type, new.kind, new.project_id, new.id, new.job_id, new.event_data, wharf_now());
    return null;
  end $$;
create trigger jobs_tell after update of event_data on jobs for each row execute function wharf_tell_job();
create trigger tasks_tell after insert or update of event_data on tasks for each row execute function wharf_tell_task();
--@sqlite
create trigger jobs_tell after update of event_data on jobs begin
  insert into events (type, kind, project_id, task_id, job_id, data, at)
    select new.event_type, kind, project_id, id, job_id, new.event_data, wharf_now()
    from tasks
    where job_id = new.id and cancelled_at is null;
end;
create trigger tasks_tell_first after insert on tasks begin
  insert into events (type, kind, project_id, task_id, job_id, data, at)
    values (new.event_type, new.kind, new.project_id, new.id, new.job_id, new.event_data, wharf_now());
end;
create trigger tasks_tell after update of event_data on tasks begin
  insert into events (type, kind, project_id, task_id, job_id, data, at)
    values (new.event_type, new.kind, new.project_id, new.id, new.job_id, new.event_data, wharf_now());
end;
--@all

create table lanes (
  name text primary key,
  max_running integer,
  policy text not null
);

create table settings (
  key text primary key,
  value text not null,
  updated_at bigint not null
);

create table instances (
  id text primary key,
  host text not null,
  pid integer not null,
  version text not null,
  started_at bigint not null,
  seen_at bigint not null
);

create table leaders (
  name text primary key,
  holder text not null,
  lease_until bigint not null
);

create table idempotency (
  scope text not null,
  key text not null,
  fingerprint text not null,
  status integer not null,
  headers text not null,
  body text not null,
  created_at bigint not null,
  primary key (scope, key)
);
create index idempotency_by_age on idempotency (created_at);
