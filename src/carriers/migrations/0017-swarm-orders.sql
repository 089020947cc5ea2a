-- Targets are known by agent and container, each in its own column: joined, ('a', 'b:') and ('a:b', '') were the same.
create table swarm_targets_apart (
  task_id text not null references swarm_tasks (id) on delete cascade,
  agent_id text not null,
  container_id text not null,
  places text not null,
  error_code integer not null,
  error_message text not null,
  primary key (task_id, agent_id, container_id)
);
insert into swarm_targets_apart (task_id, agent_id, container_id, places, error_code, error_message)
  select task_id, agent_id, container_id, places, error_code, error_message from swarm_targets;
drop table swarm_targets;
alter table swarm_targets_apart rename to swarm_targets;

-- Agents are told on whose behalf a file comes. The manifest is signed with each order, not by itself.
alter table swarm_tasks add column project_id text not null default '';
alter table swarm_tasks drop column manifest_signature;
