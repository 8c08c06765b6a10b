import type { Command } from 'commander';
import type { Database } from '#entities';
import { type MasterKeys, refuseWrongMasterKeys, resealIdentityKey, rewrapDataKey } from '#secrets';
import { identityStores, masterKeys, stores, withDatabase } from './deployment';
import { EXIT, type ExitCode, note, print, run, verb } from './program';

const BATCH_SIZE = 100;

/** Wraps every organization's data key and the issuer's keys anew, by the newest master key. */
export function addRotateMasterKey(program: Command): void {
  verb(
    program,
    'rotate-master-key',
    "wrap every organization's data key and the issuer's keys anew, by the newest master key",
    [''],
    `MASTER_KEYS holds the old key and the new one, the highest version last: "1:<old>,2:<new>". In this order:

  1. Give API and workers both keys and restart them: new data keys are wrapped by the new one, old ones still open.
  2. Run this command. What is encrypted stays as it is; nothing has to stop meanwhile. It may be run again.
  3. When it says that no data key is left under another version, take the old key out of MASTER_KEYS.`,
  ).action(run(rotateMasterKey));
}

async function rotateMasterKey(): Promise<ExitCode> {
  const keys = masterKeys();
  return withDatabase(async (database) => {
    // what is wrapped by the newest version already may be so by another key: then the old one must stay
    refuseWrongMasterKeys(keys, await stores.dataKeys.oneOfEachVersion(database.autocommit));
    const done = await rewrap(database, keys);
    const identityKeys = await resealIdentityKeys(database, keys);
    if (identityKeys > 0) note(`${identityKeys} identity keys sealed`);
    const left = await stores.dataKeys.countOutdated(database.autocommit, keys.currentVersion);
    const remainder = left === 0 ? 'none is left under another' : `${left} are left: run the command again`;
    print(`${done} data keys are now under master key version ${keys.currentVersion}; ${remainder}.`);
    return left > 0 ? EXIT.found : EXIT.done;
  });
}

/** @returns how many data keys were rewrapped */
async function rewrap(database: Database, keys: MasterKeys): Promise<number> {
  const { dataKeys: store } = stores;
  for (let done = 0; ;) {
    const count = await database.transaction(async (tx) => {
      const found = await store.lockOutdated(tx, keys.currentVersion, BATCH_SIZE);
      for (const key of found) await store.rewrap(tx, { ...key, ...rewrapDataKey(keys, key) });
      return found.length;
    });
    if (count === 0) return done;
    done += count;
    note(`${done} data keys wrapped`);
  }
}

/** The few keys that sign tokens about credentials. @returns how many were sealed again */
function resealIdentityKeys(database: Database, keys: MasterKeys): Promise<number> {
  return database.transaction(async (tx) => {
    const outdated = await identityStores.keys.lockOutdated(tx, keys.currentVersion);
    for (const key of outdated) await identityStores.keys.reseal(tx, resealIdentityKey(keys, key));
    return outdated.length;
  });
}
