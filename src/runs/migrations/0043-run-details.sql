-- What a run left behind. A file that failed keeps the reason and its address, so that it can be tried again by itself.
alter table account_files add column url text;
alter table account_files add column error_code text;
alter table account_files add column error_message text;
alter table account_files add column failed_at bigint;
create index account_files_failed on account_files (handle, name_key) where failed_at is not null;
create index account_files_done on account_files (handle, name_key) where done = 1;
-- The id of a run begins with its time, so a list by id is a list by age.
create index runs_of_account on runs (handle, id);
-- A long run has thousands of words of progress among a few lines of its log.
create index events_of_run on events (task_id, seq) where type in ('run_log', 'run_state_changed');
