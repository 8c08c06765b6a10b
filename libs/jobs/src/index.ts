export * from './job-types';
export * from './queue-connection';
export * from './refuse-wrong-redis';
export * from './wake-ups';
