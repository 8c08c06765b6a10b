export * from './addresses';
export * from './api';
export * from './failure';
export * from './keep-alive';
export * from './leased-session';
export * from './probe';
export * from './resource-names';
export * from './server-url';
export type { Credential } from './sending';
