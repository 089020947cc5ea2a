-- E-mails and chats are told of as callbacks are; only a callback decides about the stage of its task.
alter table deliveries add column channel text not null default 'callback';
