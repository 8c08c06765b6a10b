import type { Logger } from 'pino';
import type { CloudAccess } from '#engine';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import type { TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { CredentialChecks } from './credential-checks';
import { ResourceChecks } from './resource-checks';

const INTERVAL_MS = 1000;

/** Tasks that check due credentials and resources once a second. */
export function verificationTasks(
  database: Database,
  { verification: store }: TenantStores,
  engine: EngineStore,
  clouds: CloudAccess,
  log: Logger,
): Readonly<Record<'credentials' | 'resources', RepeatedTask>> {
  const credentials = new CredentialChecks(database, store, clouds, log);
  const resources = new ResourceChecks(database, store, engine, clouds, log);
  return {
    credentials: new RepeatedTask('check credentials', INTERVAL_MS, () => credentials.run(), log),
    resources: new RepeatedTask('verify resources', INTERVAL_MS, () => resources.run(), log),
  };
}
