export { ConnectionsModule } from './connections.module';
export * from './deployment-health';
export * from './process-life';
