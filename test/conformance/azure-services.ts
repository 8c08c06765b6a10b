import { SERVICES as SIMULATED, type Service } from '../../apps/simulator/src/azure/services/service-types';

export const PRINCIPAL = {
  tenantId: '00000000-0000-4000-8000-000000000002',
  clientId: '00000000-0000-4000-8000-000000000003',
  clientSecret: 'simulated-client-secret',
  subscriptionId: '00000000-0000-4000-8000-000000000001',
};

/** The simulated services by the type of resources that each is. */
export const SERVICES: Readonly<Record<string, Service>> = Object.fromEntries(
  Object.entries({
    SQL_SERVER: 'simulated-sql',
    POSTGRESQL_FLEXIBLE_SERVER: 'simulated-postgresql',
    MYSQL_FLEXIBLE_SERVER: 'simulated-mysql',
    KEY_VAULT: 'simulated-vault',
    CONTAINER_REGISTRY: 'simulated-registry',
    STORAGE_ACCOUNT: 'simulated-storage',
    AI_SERVICES_ACCOUNT: 'simulated-ai',
  }).map(([resourceType, name]) => [resourceType, SIMULATED.find((service) => service.name === name)!]),
);

export const idOf = ({ armType }: Service, name: string): string =>
  `/subscriptions/${PRINCIPAL.subscriptionId}/resourcegroups/simulated-group/providers/${armType.toLowerCase()}/${name}`;
