export * from './job-types';
export * from './once-a-minute';
export * from './open-redis';
export * from './queue-connection';
export * from './refuse-wrong-redis';
export * from './wake-ups';
