-- The swarm: engine tasks with their manifests, how each target ended, and which agent is connected to which instance.

create table swarm_tasks (
  id text primary key,
  local_path text not null,
  file_name text not null,
  manifest text not null,
  manifest_signature text not null,
  created_at bigint not null,
  deadline bigint not null
);
create index swarm_tasks_by_age on swarm_tasks (deadline);

create table swarm_targets (
  task_id text not null references swarm_tasks (id) on delete cascade,
  target_key text not null,
  agent_id text not null,
  container_id text not null,
  places text not null,
  error_code integer not null,
  error_message text not null,
  primary key (task_id, target_key)
);

create table swarm_agents (
  agent_id text not null,
  container_id text not null,
  instance text not null,
  host text not null,
  port integer not null,
  version text not null,
  connected_at bigint not null,
  seen_at bigint not null,
  primary key (agent_id, container_id)
);
create index swarm_agents_of_instance on swarm_agents (instance);
