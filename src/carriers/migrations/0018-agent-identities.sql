-- Who an agent is: the key that it was enrolled with. A revoked key is kept for as long as a certificate of it may live.
create table swarm_identities (
  key_id text primary key,
  agent_id text not null,
  container_id text not null,
  public_key text not null,
  enrolled_at bigint not null,
  revoked_at bigint
);
create unique index swarm_identities_in_use on swarm_identities (agent_id, container_id) where revoked_at is null;
create index swarm_identities_revoked on swarm_identities (revoked_at) where revoked_at is not null;

-- Tokens that each enrol one agent. A used one stays until its end, so that an agent that did not hear the answer may ask again.
create table swarm_enrollments (
  token_hash text primary key,
  agent_id text not null,
  container_id text not null,
  expires_at bigint not null,
  used_by text
);
