-- What is known of each finished file. Apart from the job's result, which every list reads.

create table export_reports (
  job_id text primary key references jobs (id) on delete cascade,
  report text not null
);
