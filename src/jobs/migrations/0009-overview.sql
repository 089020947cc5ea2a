-- For those who look on: what ended when and how long it took, and lists that are read newest first.

-- One narrow row a piece of work, appended by the statement that ends it and kept for the hour that is shown. Counters
-- would be cheaper to read, but every end would wait for the same row. What nobody asked for by itself (callbacks,
-- terminations) is left out.
create table ended_work (
  kind text not null,
  at bigint not null,
  failed integer not null,
  -- From the request to the end.
  duration_ms bigint not null
);
create index ended_work_of_kind on ended_work (kind, at, failed);

--@postgres
create function wharf_note_job_end() returns trigger language plpgsql as
  $$ begin
    insert into ended_work (kind, at, failed, duration_ms)
      values (new.kind, new.finished_at, case when new.state = 'failed' then 1 else 0 end, greatest(0, new.finished_at - new.created_at));
    return null;
  end $$;
create function wharf_note_processing_end() returns trigger language plpgsql as
  $$ begin
    insert into ended_work (kind, at, failed, duration_ms)
      values ('processing', wharf_now(), case when new.status = 'FAILED' then 1 else 0 end, greatest(0, new.updated_at - new.created_at));
    return null;
  end $$;
create trigger jobs_note_end after update of state on jobs for each row
  when (new.kind in ('export', 'run', 'transfer') and new.state in ('succeeded', 'failed') and old.state <> new.state)
  execute function wharf_note_job_end();
create trigger processing_note_end after update of status on processing_tasks for each row
  when (new.status in ('COMPLETED', 'FAILED') and old.status in ('PENDING', 'PROCESSING'))
  execute function wharf_note_processing_end();
--@sqlite
create trigger jobs_note_end after update of state on jobs
  when new.kind in ('export', 'run', 'transfer') and new.state in ('succeeded', 'failed') and old.state <> new.state begin
  insert into ended_work (kind, at, failed, duration_ms)
    values (new.kind, new.finished_at, new.state = 'failed', max(0, new.finished_at - new.created_at));
end;
create trigger processing_note_end after update of status on processing_tasks
  when new.status in ('COMPLETED', 'FAILED') and old.status in ('PENDING', 'PROCESSING') begin
  insert into ended_work (kind, at, failed, duration_ms)
    values ('processing', wharf_now(), new.status = 'FAILED', max(0, new.updated_at - new.created_at));
end;
--@all

-- A task's id begins with its time, so a list by id is a list by age.
create index processing_tasks_of_project on processing_tasks (project_id, id);

create index repository_files_newest on repository_files (project_id, put_at, path_hash) where superseded_at is null;

-- Written with the changes that they count, so that a list of deliveries need not read thousands of targets each.
alter table transfer_windows add column targets integer not null default 0;
alter table transfer_windows add column succeeded integer not null default 0;
alter table transfer_windows add column failed integer not null default 0;
alter table transfer_windows add column timed_out integer not null default 0;
-- Known once the delivery has begun.
alter table transfer_windows add column file_size bigint;
-- Bytes that the server itself has sent; null: its engine does not tell.
alter table transfer_windows add column egress bigint;
alter table swarm_tasks add column egress bigint not null default 0;
update transfer_windows set
  targets = (select count(*) from transfer_targets where window_id = transfer_windows.id),
  succeeded = (select count(*) from transfer_targets where window_id = transfer_windows.id and status = 'Success'),
  failed = (select count(*) from transfer_targets where window_id = transfer_windows.id and status = 'Failed'),
  timed_out = (select count(*) from transfer_targets where window_id = transfer_windows.id and status = 'Timeout');
create index transfer_windows_newest on transfer_windows (created_at, id);
create index transfer_windows_of_project on transfer_windows (project_id, created_at, id);
