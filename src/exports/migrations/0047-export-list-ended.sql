-- What ended in which way since a time, over all projects: the numbers of the overview and the rows that they lead to.
create index export_list_outcomes_ended on export_list (outcome, ended_at, task_id);
