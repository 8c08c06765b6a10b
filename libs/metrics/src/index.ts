export * from './answer-within';
export * from './metrics-server';
export * from './scraped-gauge';
export { Counter, Histogram, Registry } from 'prom-client';
