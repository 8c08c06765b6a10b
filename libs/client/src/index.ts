export * from './addresses';
export * from './api';
export * from './failure';
export * from './keep-alive';
export * from './leased-session';
export * from './resource-names';
export type { Credential } from './sending';
