-- Templates by name. Each change is a version of its own: a task tells which one it used, also after the name is gone.
create table templates (
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  primary key (project_id, name)
);

create table template_versions (
  project_id text not null,
  name text not null,
  version integer not null,
  template text not null,
  created_at bigint not null,
  primary key (project_id, name, version)
);
