-- Where in a caller's trace a job or a task was made (W3C traceparent), so that any instance goes on below it.
alter table jobs add column trace text;
alter table processing_tasks add column trace text;
