-- Who coordinates a task. The message of an instance that takes one over may be lost; this is not.
alter table swarm_tasks add column coordinator text;
