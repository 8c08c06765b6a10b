import { Client } from 'pg';
import { startProcesses, type ProcessOptions, type Processes } from './product-processes';

/** With a worker it is an issuer of ID tokens, too. */
export type SharedOptions = Pick<ProcessOptions, 'worker' | 'api' | 'simulator' | 'limitedAsShipped'>;

/** Each takes 350 MB. */
const KEPT = 2;

/** What belongs to the deployment, not to an organization. */
const KEPT_TABLES = [
  'audit_.*',
  'migrations',
  'identity_keys',
  'retention_floor',
  'sweeper_lease',
  'deployment',
  'write_probe',
];

/** The ledger refuses to be emptied, by a trigger. */
const EMPTY_TABLES = `DO $$ BEGIN SET LOCAL session_replication_role = replica; EXECUTE (
  SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' CASCADE' FROM pg_tables
  WHERE schemaname = 'public' AND tablename !~ '^(${KEPT_TABLES.join('|')})$'); END $$`;

/** Workers may hold locks of the tables in another order. */
const DEADLOCK = '40P01';

/** The products that the suites of one worker share, those used last first. */
const products: { readonly key: string; readonly processes: Promise<Processes> }[] = [];

/** A product with these settings that is as new: it starts when there is none. It ends with this process. */
export async function sharedProcesses(options: SharedOptions): Promise<Processes> {
  const key = JSON.stringify(Object.entries(options).toSorted(([one], [other]) => one.localeCompare(other)));
  const index = products.findIndex((product) => product.key === key);
  const [known] = index === -1 ? [] : products.splice(index, 1);
  const found = known ? await asNew(await known.processes) : null;
  const processes = found ? Promise.resolve(found) : started(options);
  products.unshift({ key, processes });
  // the next file tries again
  processes.catch(() =>
    products.splice(
      products.findIndex((product) => product.key === key),
      1,
    ),
  );
  for (const { processes: old } of products.splice(KEPT)) await end(await old);
  return processes;
}

async function started(options: SharedOptions): Promise<Processes> {
  const processes = await startProcesses({ ...options, issuer: options.worker ?? true });
  for (const process of all(processes)) process.detach();
  return processes;
}

/** Removes what the file before has left. @returns null when a process has ended */
async function asNew(processes: Processes): Promise<Processes | null> {
  if (all(processes).some(({ hasEnded }) => hasEnded)) {
    await end(processes);
    return null;
  }
  const owner = new Client({ connectionString: processes.ownerUrl });
  await owner.connect();
  try {
    await emptied(owner);
    // readiness would go on to tell of workers that a suite has started
    if (!processes.worker) await owner.query('DELETE FROM sweeper_lease');
  } finally {
    await owner.end();
  }
  const response = await fetch(`http://127.0.0.1:${processes.simulator.port}/_reset`, { method: 'POST' });
  if (!response.ok) throw new Error(`The simulated clouds were not reset: ${response.status}`);
  return processes;
}

async function emptied(owner: Client): Promise<void> {
  for (;;) {
    try {
      await owner.query(EMPTY_TABLES);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
    }
  }
}

const all = ({ api, simulator, worker }: Processes) => [api, simulator, ...(worker ? [worker] : [])];

async function end(processes: Processes): Promise<void> {
  await Promise.all(all(processes).map((process) => process.stop('SIGKILL')));
  await processes.dropDatabase();
}
