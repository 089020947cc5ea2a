-- When an enrolled agent was last connected, and what it ran: the row of its line goes with the line.
alter table swarm_identities add column last_seen_at bigint;
alter table swarm_identities add column last_version text;
