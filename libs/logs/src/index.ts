export * from './log-sink';
