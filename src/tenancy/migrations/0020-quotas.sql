-- What a project may use, where that differs from the settings, and what it uses.

create table project_quotas (
  project_id text not null,
  quota text not null,
  value bigint not null,
  primary key (project_id, quota)
);

-- One row per project. It is changed with a commit alone, see `Tx.atCommit`. Rows and bytes are those of `day`.
create table project_usage (
  project_id text primary key,
  day bigint not null,
  rows_read bigint not null,
  bytes_read bigint not null,
  disk_bytes bigint not null
);
insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes)
  select project_id, 0, 0, 0, sum(size) from repository_files group by project_id;

-- Files from before are not counted.
alter table export_files add column project_id text;
alter table export_files add column size bigint not null default 0;
