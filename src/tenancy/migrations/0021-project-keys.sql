-- Any number of keys per project, each with its scopes and its end. One that was deleted has no row: whatever was issued
-- by it (tickets, links) names it, and ends with it. `main` marks the keys that came with the project or by rotation.

create table project_keys (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  hash text not null,
  scopes text not null,
  main integer not null default 0,
  created_at bigint not null,
  expires_at bigint
);
create unique index project_keys_by_hash on project_keys (hash);
create index project_keys_of_project on project_keys (project_id, created_at);

insert into project_keys (id, project_id, name, hash, scopes, main, created_at)
  select id || '-main', id, 'main', api_key_hash, '["all"]', 1, created_at from projects where deleted_at is null;
insert into project_keys (id, project_id, name, hash, scopes, main, created_at, expires_at)
  select id || '-old', id, 'main', api_key_old_hash, '["all"]', 1, created_at, api_key_old_until from projects
  where deleted_at is null and api_key_old_hash is not null;

alter table projects drop column api_key_hash;
alter table projects drop column api_key_old_hash;
alter table projects drop column api_key_old_until;
