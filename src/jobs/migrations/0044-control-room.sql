-- What ended in each quarter of an hour, for a month: `ended_work` has single ends, and only for a while. The leader adds up
-- a quarter once it is over, so that looking back over a month reads some thousand rows and no history.
create table ended_spans (
  kind text not null,
  -- When the quarter began.
  at bigint not null,
  finished integer not null,
  failed integer not null,
  primary key (kind, at)
);
-- The newest failures of each kind of work.
create index jobs_failed on jobs (kind, finished_at) where state = 'failed';
create index processing_tasks_failed on processing_tasks (updated_at) where status = 'FAILED';
