-- Which job made an attempt, so that the next one is known; null: made before this.
alter table deliveries add column job_id text;
-- Attempts that did not arrive, newest first.
create index deliveries_failed on deliveries (at, id) where delivered <> 1;
