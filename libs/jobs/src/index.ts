export * from './job-types';
export * from './queue-connection';
export * from './queue-depth';
export * from './wake-ups';
