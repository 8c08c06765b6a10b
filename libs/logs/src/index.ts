export * from './log-sink';
export * from './nest-log';
