-- Who is signed in. Of the cookie's secret only the hash is kept. `owner` is whose session it is: the admin token, a key, or a
-- person; `mark` is what it depends on besides its key: the admin token of that time, or the issuer that named the person.
create table sessions (
  id text primary key,
  hash text not null,
  owner text not null,
  mark text,
  key_id text references project_keys (id) on delete cascade,
  subject text,
  name text,
  roles text,
  address text,
  created_at bigint not null,
  expires_at bigint not null
);
create unique index sessions_by_hash on sessions (hash);
create index sessions_of_owner on sessions (owner, created_at);
create index sessions_of_key on sessions (key_id);
create index sessions_by_end on sessions (expires_at);
