-- Room for files that are being written, from before the first byte until the file itself is counted.
create table disk_reservations (
  id text primary key,
  project_id text not null,
  size bigint not null,
  created_at bigint not null
);
create index disk_reservations_by_age on disk_reservations (created_at);
