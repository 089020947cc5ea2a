-- How often the file of a task was fetched by link, where that is limited.
create table export_link_uses (
  task_id text primary key references tasks (id) on delete cascade,
  uses integer not null
);
