export { ConnectionsModule } from './connections.module';
export * from './deployment-health';
export * from './deployment-id';
export * from './process-life';
