import { RepeatedTask, type TaskParts } from '../repeated-task';
import { AccountLists } from './account-lists';
import { CredentialChecks } from './credential-checks';
import { ResourceChecks } from './resource-checks';

const INTERVAL_MS = 1000;

/** Tasks that check due credentials and resources, and list accounts, once a second. */
export function verificationTasks({
  database,
  stores: { verification: store, accountLists },
  engine,
  clouds,
  log,
}: TaskParts): Readonly<Record<'credentials' | 'resources' | 'accountLists', RepeatedTask>> {
  const credentials = new CredentialChecks(database, store, clouds, log);
  const resources = new ResourceChecks(database, store, engine, clouds, log);
  const accounts = new AccountLists(database, accountLists, clouds, log);
  return {
    accountLists: new RepeatedTask('list accounts', INTERVAL_MS, () => accounts.run(), log),
    credentials: new RepeatedTask('check credentials', INTERVAL_MS, () => credentials.run(), log),
    resources: new RepeatedTask('verify resources', INTERVAL_MS, () => resources.run(), log),
  };
}
