import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { IdentityKeyStore } from '#credentials';
import type { Database } from '#entities';
import { DataKeyStore } from '#tenant-store';
import { MasterKeys, resealIdentityKey, rewrapDataKey } from '#secrets';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `Wraps every organization's data key and the issuer's keys anew, by the newest master key.

  npm run rotate-master-key

MASTER_KEYS holds the old key and the new one, the highest version last: "1:<old>,2:<new>". In this order:

  1. Give API and workers both keys and restart them: new data keys are wrapped by the new one, old ones still open.
  2. Run this command. What is encrypted stays as it is; nothing has to stop meanwhile. It may be run again.
  3. When it says that no data key is left under another version, take the old key out of MASTER_KEYS.

The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running.
`;

const SEE_HELP = 'For help: npm run rotate-master-key -- --help\n';
const BATCH_SIZE = 100;

function isHelpRequested(given: readonly string[]): boolean {
  try {
    const options = { help: { type: 'boolean', short: 'h', default: false } } as const;
    return parseArgs({ args: [...given], options }).values.help;
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

function readKeys(text: string | undefined): MasterKeys {
  try {
    return MasterKeys.parse(text ?? '');
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

/** @returns how many data keys were rewrapped */
async function rotate(database: Database, keys: MasterKeys, report: (done: number) => void): Promise<number> {
  const store = new DataKeyStore();
  let done = 0;
  for (;;) {
    const count = await database.transaction(async (tx) => {
      const found = await store.lockOutdated(tx, keys.currentVersion, BATCH_SIZE);
      for (const key of found) await store.rewrap(tx, { ...key, ...rewrapDataKey(keys, key) });
      return found.length;
    });
    if (count === 0) return done;
    done += count;
    report(done);
  }
}

/** The few keys that sign tokens about credentials. @returns how many were sealed again */
function resealIdentityKeys(database: Database, keys: MasterKeys): Promise<number> {
  const store = new IdentityKeyStore();
  return database.transaction(async (tx) => {
    const outdated = await store.lockOutdated(tx, keys.currentVersion);
    for (const key of outdated) await store.reseal(tx, resealIdentityKey(keys, key));
    return outdated.length;
  });
}

async function main(): Promise<void> {
  if (isHelpRequested(process.argv.slice(2))) {
    process.stdout.write(HELP);
    return;
  }
  const keys = readKeys(process.env['MASTER_KEYS']);
  await withDatabase({ applicationName: 'drawbridge-rotate', poolSize: 1 }, async (database) => {
    const done = await rotate(database, keys, (count) =>
      process.stderr.write(`${count} data keys wrapped\n`),
    );
    const identityKeys = await resealIdentityKeys(database, keys);
    if (identityKeys > 0) process.stderr.write(`${identityKeys} identity keys sealed\n`);
    const left = await new DataKeyStore().countOutdated(database.autocommit, keys.currentVersion);
    const remainder = left === 0 ? 'none is left under another' : `${left} are left: run the command again`;
    process.stdout.write(
      `${done} data keys are now under master key version ${keys.currentVersion}; ${remainder}.\n`,
    );
    if (left > 0) process.exitCode = 1;
  });
}

main().catch((error: unknown) => {
  const message = error instanceof OperatorError ? `${error.message}\n${SEE_HELP}` : `${String(error)}\n`;
  process.stderr.write(message);
  process.exitCode = error instanceof OperatorError ? 2 : 1;
});
