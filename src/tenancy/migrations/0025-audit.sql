-- Who did what. Rows are appended and never changed: the triggers refuse everything else.
-- `seq` is taken in the order of commits, so a reader that has seen one never misses a lower one.
--@sqlite
create table audit (
  seq integer primary key autoincrement,
  at bigint not null,
  actor text not null,
  action text not null,
  project_id text,
  target text not null,
  address text,
  detail text
);
create trigger audit_keeps before update on audit begin select raise(abort, 'the audit log is append-only'); end;
create trigger audit_stays before delete on audit begin select raise(abort, 'the audit log is append-only'); end;
--@postgres
create table audit (
  seq bigint generated always as identity primary key,
  at bigint not null,
  actor text not null,
  action text not null,
  project_id text,
  target text not null,
  address text,
  detail text
);
create function wharf_audit_append_only() returns trigger language plpgsql as
  $$ begin raise exception 'the audit log is append-only'; end $$;
create trigger audit_append_only before update or delete on audit
  for each statement execute function wharf_audit_append_only();
--@all
create index audit_by_actor on audit (actor, seq);
create index audit_by_action on audit (action, seq);
