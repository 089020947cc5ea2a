-- A job that met an outage is put back without an attempt lost. Kept here, its pauses keep growing over restarts, and its
-- task's view says what it waits for.
alter table jobs add column outages integer not null default 0;
alter table jobs add column outage text;
alter table jobs add column outage_since bigint;
