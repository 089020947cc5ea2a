-- Accounts and what was fetched for them. A run is a job of kind 'run' with one task; its state is the job's.

create table accounts (
  handle text primary key,
  url text not null,
  params text not null,
  run_id text,
  -- Where `continue` goes on; null: at the beginning.
  cursor text,
  -- How the last run ended, kept when its job is deleted after its time.
  last_run text,
  updated_at bigint not null
);

-- At most one active run a handle, whoever asks and on whichever instance.
create unique index runs_active on jobs (owner)
  where kind = 'run' and state in ('waiting', 'pending', 'running');

create table runs (
  id text primary key,
  job_id text not null references jobs (id) on delete cascade,
  handle text not null,
  -- Where the run goes on after a crash: the first page that is not done, with the counts before it.
  checkpoint text,
  -- 'keep' or 'delete': the run was cancelled and what it left on the disk is still to be put right.
  cleanup text
);
create index runs_of_job on runs (job_id);
create index runs_to_clean on runs (id) where cleanup is not null;

create table account_files (
  handle text not null,
  item_id text not null,
  -- Its name in the account's folder, taken before the download starts.
  name text not null,
  -- Names that some file systems take for the same are the same here.
  name_key text not null,
  -- The run that made the file; null when it was there before.
  run_id text,
  -- The page of that run which listed it.
  page integer not null,
  done integer not null,
  size bigint,
  -- ETag or Last-Modified of a download that is under way.
  validator text,
  primary key (handle, item_id)
);
create unique index account_files_by_name on account_files (handle, name_key);
create index account_files_of_run on account_files (run_id) where run_id is not null;
