-- The files of processing count towards the disk of their project: originals and results of tasks, and uploads under way.
-- A new or deleted task counts itself, with its own statement.
alter table processing_tasks add column result_size bigint not null default 0;

-- What an upload may come to, from its beginning until it is a task, is deleted, or was given up.
create table processing_uploads (
  id text primary key,
  project_id text not null,
  size bigint not null,
  created_at bigint not null
);
create index processing_uploads_by_age on processing_uploads (created_at);

--@postgres
create function wharf_count_processing() returns trigger language plpgsql as
  $$ begin
    insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes)
      select project_id, 0, 0, 0, sum(size)
      from made
      where project_id is not null
      group by project_id
      order by project_id
      on conflict (project_id)
      do update set disk_bytes = project_usage.disk_bytes + excluded.disk_bytes;
    return null;
  end $$;
create trigger processing_tasks_count after insert on processing_tasks
  referencing new table as made for each statement execute function wharf_count_processing();
create function wharf_uncount_processing() returns trigger language plpgsql as
  $$ begin
    update project_usage
      set disk_bytes = disk_bytes - gone.bytes
      from (select project_id, sum(size + result_size) as bytes from ended
      where project_id is not null
      group by project_id
      order by project_id) as gone
      where project_usage.project_id = gone.project_id;
    return null;
  end $$;
create trigger processing_tasks_uncount after delete on processing_tasks
  referencing old table as ended for each statement execute function wharf_uncount_processing();
--@sqlite
create trigger processing_tasks_count after insert on processing_tasks
  when new.project_id is not null begin
  insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes)
    values (new.project_id, 0, 0, 0, new.size)
    on conflict (project_id)
    do update set disk_bytes = disk_bytes + excluded.disk_bytes;
end;
create trigger processing_tasks_uncount after delete on processing_tasks
  when old.project_id is not null begin
  update project_usage
    set disk_bytes = disk_bytes - old.size - old.result_size
    where project_id = old.project_id;
end;
--@all

insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes)
  select project_id, 0, 0, 0, sum(size) from processing_tasks where project_id is not null group by project_id
  on conflict (project_id) do update set disk_bytes = project_usage.disk_bytes + excluded.disk_bytes;
