import { describeService } from './azure-service-bench';

// the others are tested with each change: `azure-services.spec.ts`
for (const resourceType of [
  'MYSQL_FLEXIBLE_SERVER',
  'CONTAINER_REGISTRY',
  'STORAGE_ACCOUNT',
  'AI_SERVICES_ACCOUNT',
])
  describeService(resourceType);
