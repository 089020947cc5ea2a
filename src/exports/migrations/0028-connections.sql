-- Databases that exports may read, each with the projects that may. The address is sealed.
create table connections (
  name text primary key,
  driver text not null,
  url text not null,
  projects text not null,
  updated_at bigint not null
);
