-- 0: as usual. 1: others of the same lane go first, until the job has waited for a while.
alter table jobs add column priority integer not null default 0;
