-- Rows that are kept beyond their file, so that another file can be made of them. `tables` says where they are and how they were laid out.
create table export_rows (
  job_id text primary key references jobs (id) on delete cascade,
  project_id text not null,
  tables text not null,
  size bigint not null,
  expires_at bigint not null,
  removed_at bigint
);
create index export_rows_to_remove on export_rows (expires_at) where removed_at is null;
