export * from './mailer';
export * from './plain-name';
export * from './smtp-mailer';
