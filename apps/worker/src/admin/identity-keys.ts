import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { ISSUER_URL, ISSUER_URL_MESSAGE } from '#config';
import { IdentityKeyRotation, issuerConfiguration, type Rotation } from '#credentials';
import type { Database } from '#entities';
import { identityStores, masterKeys, withDatabase } from './deployment';
import { parsed, print, run, verb } from './program';

/** The keys that sign tokens about credentials, for clouds that trust this deployment's issuer. */
export function addIdentityKeys(program: Command): void {
  const keys = program
    .command('identity-keys')
    .description(
      "the keys that sign tokens about credentials, for clouds that trust this deployment's issuer",
    );

  verb(keys, 'list', 'the published keys, and which one signs', ['']).action(run(() => withDatabase(list)));

  verb(
    keys,
    'rotate',
    'publish a new key, which signs 25 hours later; the one before stays published for 25 hours more',
    [''],
    'MASTER_KEYS as the services have them.',
  ).action(run(() => replace((rotation) => rotation.rotate())));

  verb(
    keys,
    'revoke',
    'after a key was lost: delete every key and sign with a new one at once',
    [''],
    `Clouds refuse the new one until they fetch the keys again; for GCP with uploaded keys, upload them again.
MASTER_KEYS as the services have them.`,
  ).action(run(() => replace((rotation) => rotation.revoke())));

  verb(
    keys,
    'files',
    "write what the issuer's URL has to answer, for a static host, or to upload the keys to GCP",
    ['--issuer https://drawbridge.example.com/oidc/<organization> --to issuer'],
  )
    .requiredOption(
      '--issuer <url>',
      'the URL of the issuer',
      parsed(ISSUER_URL_MESSAGE, (text) => (ISSUER_URL.test(text) ? text : undefined)),
    )
    .requiredOption('--to <folder>', 'the folder to write to')
    .action(run(writeFiles));
}

async function list(database: Database): Promise<void> {
  const rows = await identityStores.keys.listPublished(database.autocommit);
  const signing = rows.findLast(({ mayHaveSigned }) => mayHaveSigned);
  if (!signing) print('There is no key yet: the first one is made when it is needed.');
  for (const row of signing ? rows : []) {
    const state = row.mayHaveSigned ? 'published, signs no more' : 'published, does not sign yet';
    print(`${row.kid}  ${row === signing ? 'signs' : state}`);
  }
}

async function replace(change: (rotation: IdentityKeyRotation) => Promise<Rotation | null>): Promise<void> {
  const keys = masterKeys();
  const rotation = await withDatabase((database) =>
    change(new IdentityKeyRotation(database, keys, identityStores.keys)),
  );
  if (!rotation) throw new Error('The last rotation is not over: its key does not sign yet. See list.');
  const { kid, signsFrom, deleted } = rotation;
  print(
    `${kid} signs from ${signsFrom.toISOString()}. ${deleted} keys that were no longer published are deleted.`,
  );
}

async function writeFiles({ issuer, to }: { issuer: string; to: string }): Promise<void> {
  const keys = await withDatabase(({ autocommit }) => identityStores.keys.listPublished(autocommit));
  if (keys.length === 0) throw new Error('There is no key yet: make one with rotate.');
  mkdirSync(join(to, '.well-known'), { recursive: true });
  const written = {
    [join(to, '.well-known', 'openid-configuration')]: issuerConfiguration(issuer),
    [join(to, 'jwks')]: { keys: keys.map(({ publicKey }) => publicKey) },
  };
  for (const [file, content] of Object.entries(written)) {
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
    print(file);
  }
}
