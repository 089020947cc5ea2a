-- What keeps locks short on PostgreSQL, so that a client which stops holds up nobody else.

--@postgres
-- Locked by whoever numbers events. A table, because its lock comes before a snapshot is taken and ends with the
-- transaction; of advisory locks none does both.
create table event_numbering ();

-- Ends a transaction from within a statement that is sent together with its commit, see `Tx.atCommit`.
create function wharf_refuse(name text, reason text) returns integer language plpgsql volatile as
  $$ begin raise exception using errcode = 'WH001', message = reason, detail = name; end $$;
--@all
