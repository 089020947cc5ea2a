-- Lists of exports: one narrow row per task, so that every order and every filter is an index, and no list reads jobs or
-- payloads for what it leaves out. Kept by triggers, in the transaction of the change.
create table export_list (
  task_id text primary key references tasks (id) on delete cascade,
  project_id text not null,
  created_at bigint not null,
  -- `open`, or how it ended.
  outcome text not null,
  -- While it is open, later than any time.
  ended_at bigint not null,
  type text not null,
  -- By bytes on both ledgers. The name is in lower case, as lists are sorted and searched by it.
--@postgres
  operator text collate "C",
  name text collate "C" not null,
--@sqlite
  operator text,
  name text not null,
--@all
  -- 0 without a file.
  size bigint not null
);

--@postgres
insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, size)
  select tasks.id, coalesce(tasks.project_id, ''), tasks.created_at,
    case when tasks.cancelled_at is not null then 'cancelled' when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
    coalesce(tasks.cancelled_at, case when jobs.state in ('waiting', 'pending', 'running') then null else jobs.finished_at end, 9007199254740991),
    coalesce(jobs.payload::json #>> '{request,type}', ''), tasks.label,
    lower(left(coalesce(jobs.payload::json #>> '{request,fileName}', ''), 200)),
    case when tasks.cancelled_at is null and jobs.state = 'succeeded' then coalesce((jobs.result::json ->> 'size')::bigint, 0) else 0 end
  from tasks join jobs on jobs.id = tasks.job_id
  where tasks.kind = 'export';
--@sqlite
insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, size)
  select tasks.id, coalesce(tasks.project_id, ''), tasks.created_at,
    case when tasks.cancelled_at is not null then 'cancelled' when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
    coalesce(tasks.cancelled_at, case when jobs.state in ('waiting', 'pending', 'running') then null else jobs.finished_at end, 9007199254740991),
    coalesce(jobs.payload ->> '$.request.type', ''), tasks.label,
    lower(substr(coalesce(jobs.payload ->> '$.request.fileName', ''), 1, 200)),
    case when tasks.cancelled_at is null and jobs.state = 'succeeded' then coalesce(jobs.result ->> '$.size', 0) else 0 end
  from tasks join jobs on jobs.id = tasks.job_id
  where tasks.kind = 'export';
--@all

create index export_list_of_project on export_list (project_id, created_at, task_id);
create index export_list_by_outcome on export_list (project_id, outcome, created_at, task_id);
create index export_list_by_type on export_list (project_id, type, created_at, task_id);
create index export_list_by_operator on export_list (project_id, operator, created_at, task_id) where operator is not null;
create index export_list_by_end on export_list (project_id, ended_at, task_id);
create index export_list_by_name on export_list (project_id, name, task_id);
create index export_list_by_size on export_list (project_id, size, task_id);
-- For the admin: over all projects.
create index export_list_newest on export_list (created_at, task_id);
create index export_list_outcomes on export_list (outcome, created_at, task_id);
-- Only lists of exports had a use for them.
drop index tasks_of_project;
drop index tasks_of_label;

-- Whoever changes a task has locked its job before, so a job that ends and a task that is cancelled cannot wait for one
-- another.
--@postgres
create function wharf_list_export() returns trigger language plpgsql as
  $$ begin
    insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, size)
      select new.id, coalesce(new.project_id, ''), new.created_at,
        case when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
        case when jobs.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(jobs.finished_at, 0) end,
        coalesce(jobs.payload::json #>> '{request,type}', ''), new.label,
        lower(left(coalesce(jobs.payload::json #>> '{request,fileName}', ''), 200)),
        case when jobs.state = 'succeeded' then coalesce((jobs.result::json ->> 'size')::bigint, 0) else 0 end
      from jobs where jobs.id = new.job_id;
    return null;
  end $$;
create function wharf_list_export_task() returns trigger language plpgsql as
  $$ begin
    update export_list set
        outcome = case when new.cancelled_at is null then 'open' else 'cancelled' end,
        ended_at = coalesce(new.cancelled_at, 9007199254740991),
        size = 0
      where task_id = new.id;
    return null;
  end $$;
create function wharf_list_export_end() returns trigger language plpgsql as
  $$ begin
    update export_list set
        outcome = case when new.state in ('waiting', 'pending', 'running') then 'open' else new.state end,
        ended_at = case when new.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(new.finished_at, wharf_now()) end,
        size = case when new.state = 'succeeded' then coalesce((new.result::json ->> 'size')::bigint, 0) else 0 end
      where task_id in (select id from tasks where job_id = new.id and cancelled_at is null);
    return null;
  end $$;
create trigger tasks_list_export after insert on tasks for each row when (new.kind = 'export')
  execute function wharf_list_export();
create trigger tasks_list_export_change after update of cancelled_at, job_id on tasks for each row when (new.kind = 'export')
  execute function wharf_list_export_task();
create trigger jobs_list_export_end after update of state on jobs for each row
  when (new.kind = 'export' and (new.state in ('waiting', 'pending', 'running')) <> (old.state in ('waiting', 'pending', 'running')))
  execute function wharf_list_export_end();
--@sqlite
create trigger tasks_list_export after insert on tasks when new.kind = 'export' begin
  insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, size)
    select new.id, coalesce(new.project_id, ''), new.created_at,
      case when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
      case when jobs.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(jobs.finished_at, 0) end,
      coalesce(jobs.payload ->> '$.request.type', ''), new.label,
      lower(substr(coalesce(jobs.payload ->> '$.request.fileName', ''), 1, 200)),
      case when jobs.state = 'succeeded' then coalesce(jobs.result ->> '$.size', 0) else 0 end
    from jobs where jobs.id = new.job_id;
end;
create trigger tasks_list_export_change after update of cancelled_at, job_id on tasks when new.kind = 'export' begin
  update export_list set
      outcome = case when new.cancelled_at is null then 'open' else 'cancelled' end,
      ended_at = coalesce(new.cancelled_at, 9007199254740991),
      size = 0
    where task_id = new.id;
end;
create trigger jobs_list_export_end after update of state on jobs
  when new.kind = 'export' and (new.state in ('waiting', 'pending', 'running')) <> (old.state in ('waiting', 'pending', 'running')) begin
  update export_list set
      outcome = case when new.state in ('waiting', 'pending', 'running') then 'open' else new.state end,
      ended_at = case when new.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(new.finished_at, wharf_now()) end,
      size = case when new.state = 'succeeded' then coalesce(new.result ->> '$.size', 0) else 0 end
    where task_id in (select id from tasks where job_id = new.id and cancelled_at is null);
end;
--@all
