-- What a project demands to be hidden in its files: a JSON object, column name to mask.

alter table projects add column masks text;
