export * from './job-types';
export * from './queue-connection';
export * from './wake-ups';
