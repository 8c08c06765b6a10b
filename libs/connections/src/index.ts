export { ConnectionsModule } from './connections.module';
export * from './deployment-health';
