-- Which row refers to an artifact: asked by the sweep of those that none refers to.

create index repository_files_by_artifact on repository_files (artifact_key);
