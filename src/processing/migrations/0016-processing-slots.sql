-- The list in Redis that holds the task while a processor of ours works on it; '' when a foreign one does, or none. A Redis
-- that lost its memory forgets who works on what: a task of ours that no list holds afterwards has no processor.
alter table processing_tasks add column slot text not null default '';
