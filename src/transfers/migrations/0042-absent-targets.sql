-- A target whose agent is not connected waits for it: it does not download. Counted with the other states of a delivery.
alter table transfer_targets add column absent integer not null default 0;
alter table transfer_windows add column absent integer not null default 0;
