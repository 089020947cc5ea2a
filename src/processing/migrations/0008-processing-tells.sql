-- A new task of the processing domain tells of itself, with the statement that inserts it: making tasks is one statement,
-- whether one is made or a hundred.
--@postgres
create function wharf_tell_processing() returns trigger language plpgsql as
  $$ begin
    insert into events (type, kind, project_id, task_id, data, at)
      select 'processing.pending', 'processing', project_id, id, '{"status":"PENDING"}', queued_at
      from made
      order by id;
    return null;
  end $$;
create trigger processing_tasks_tell after insert on processing_tasks
  referencing new table as made for each statement execute function wharf_tell_processing();
--@sqlite
create trigger processing_tasks_tell after insert on processing_tasks begin
  insert into events (type, kind, project_id, task_id, data, at)
    values ('processing.pending', 'processing', new.project_id, new.id, '{"status":"PENDING"}', new.queued_at);
end;
--@all
