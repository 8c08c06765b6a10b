export * from './metrics-server';
export { Counter, Gauge, Histogram, Registry } from 'prom-client';
