-- Exports: whom to tell, which file an export became, who fetched it, and how telling went.

alter table tasks add column callback text;

create table export_files (
  job_id text primary key references jobs (id) on delete cascade,
  artifact_key text not null,
  expires_at bigint not null,
  removed_at bigint
);
create index export_files_to_remove on export_files (expires_at) where removed_at is null;

create table export_downloads (
  id text primary key,
  task_id text not null,
  at bigint not null,
  who text not null,
  address text not null,
  bytes bigint not null,
  complete integer not null
);
create index export_downloads_of_task on export_downloads (task_id, at);
create index export_downloads_by_age on export_downloads (at);

create table deliveries (
  id text primary key,
  task_id text not null,
  event_type text not null,
  url text not null,
  attempt integer not null,
  at bigint not null,
  status integer,
  error text,
  delivered integer not null
);
create index deliveries_of_task on deliveries (task_id, at);
create index deliveries_by_age on deliveries (at);
