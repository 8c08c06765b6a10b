import { RepeatedTask, type TaskParts } from '../repeated-task';
import { listAccounts } from './account-lists';
import { checkCredentials } from './credential-checks';
import { verifyResources } from './resource-checks';

const INTERVAL_MS = 1000;

/** Tasks that check due credentials and resources, and list accounts, once a second. */
export const verificationTasks = (
  parts: TaskParts,
): Readonly<Record<'credentials' | 'resources' | 'accountLists', RepeatedTask>> => ({
  accountLists: new RepeatedTask('list accounts', INTERVAL_MS, () => listAccounts(parts), parts.log),
  credentials: new RepeatedTask('check credentials', INTERVAL_MS, () => checkCredentials(parts), parts.log),
  resources: new RepeatedTask('verify resources', INTERVAL_MS, () => verifyResources(parts), parts.log),
});
