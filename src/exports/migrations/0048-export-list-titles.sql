-- Lists are searched by the title above the table, too: it is what they show.
alter table export_list add column title text not null default '';

--@postgres
update export_list set title = asked.title
  from (select tasks.id, lower(left(jobs.payload::json #>> '{request,tables,0,title}', 200)) as title
    from tasks join jobs on jobs.id = tasks.job_id where tasks.kind = 'export') as asked
  where asked.id = export_list.task_id and asked.title <> '';
create or replace function wharf_list_export() returns trigger language plpgsql as
  $$ begin
    insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, title, size)
      select new.id, coalesce(new.project_id, ''), new.created_at,
        case when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
        case when jobs.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(jobs.finished_at, 0) end,
        coalesce(jobs.payload::json #>> '{request,type}', ''), new.label,
        lower(left(coalesce(jobs.payload::json #>> '{request,fileName}', ''), 200)),
        lower(left(coalesce(jobs.payload::json #>> '{request,tables,0,title}', ''), 200)),
        case when jobs.state = 'succeeded' then coalesce((jobs.result::json ->> 'size')::bigint, 0) else 0 end
      from jobs where jobs.id = new.job_id;
    return null;
  end $$;
--@sqlite
update export_list set title = asked.title
  from (select tasks.id, lower(substr(jobs.payload ->> '$.request.tables[0].title', 1, 200)) as title
    from tasks join jobs on jobs.id = tasks.job_id where tasks.kind = 'export') as asked
  where asked.id = export_list.task_id and asked.title <> '';
drop trigger tasks_list_export;
create trigger tasks_list_export after insert on tasks when new.kind = 'export' begin
  insert into export_list (task_id, project_id, created_at, outcome, ended_at, type, operator, name, title, size)
    select new.id, coalesce(new.project_id, ''), new.created_at,
      case when jobs.state in ('waiting', 'pending', 'running') then 'open' else jobs.state end,
      case when jobs.state in ('waiting', 'pending', 'running') then 9007199254740991 else coalesce(jobs.finished_at, 0) end,
      coalesce(jobs.payload ->> '$.request.type', ''), new.label,
      lower(substr(coalesce(jobs.payload ->> '$.request.fileName', ''), 1, 200)),
      lower(substr(coalesce(jobs.payload ->> '$.request.tables[0].title', ''), 1, 200)),
      case when jobs.state = 'succeeded' then coalesce(jobs.result ->> '$.size', 0) else 0 end
    from jobs where jobs.id = new.job_id;
end;
--@all
