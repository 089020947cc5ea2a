-- Places of a lane that only an owner without any may take.
alter table lanes add column reserve integer not null default 0;

-- How many places of a lane one owner may hold, where that is less than the lane has.
create table lane_shares (
  lane text not null,
  owner text not null,
  max_running integer not null,
  primary key (lane, owner)
);

-- A job that pauses in a fair lane has given its place away and is admitted again after this time.
alter table jobs add column paused_until bigint;
create index jobs_paused on jobs (paused_until) where state = 'waiting' and paused_until is not null;
