import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ISSUER_URL, ISSUER_URL_MESSAGE } from '#config';
import { IdentityKeyRotation, IdentityKeyStore, issuerConfiguration, type Rotation } from '#credentials';
import type { Database } from '#entities';
import { MasterKeys } from '#secrets';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `The keys that sign tokens about credentials, for clouds that trust this deployment's issuer.

  npm run identity-keys -- list
  npm run identity-keys -- rotate
  npm run identity-keys -- revoke
  npm run identity-keys -- files --issuer url --to folder

  list     the published keys, and which one signs
  rotate   publish a new key, which signs 25 hours later; the one before stays published for 25 hours more
  revoke   after a key was lost: delete every key and sign with a new one at once. Clouds refuse it until they
           fetch the keys again; for GCP with uploaded keys, upload them again
  files    write what the issuer's URL has to answer, for a static host, or to upload the keys to GCP

MASTER_KEYS as the services have them. The database is DATABASE_URL's, else the one that npm start keeps in
DATA_DIR (.data) and is running.
`;
const SEE_HELP = 'For help: npm run identity-keys -- --help\n';

interface Arguments {
  readonly command: string;
  readonly issuer: string | undefined;
  readonly to: string | undefined;
}

/** @returns null when help was requested @throws OperatorError */
function readArguments(): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        issuer: { type: 'string' },
        to: { type: 'string' },
      },
    });
    const [command] = positionals;
    if (values.help) return null;
    if (command === undefined || positionals.length > 1)
      throw new OperatorError('One of list, rotate, revoke and files is needed.');
    return { command, issuer: values.issuer, to: values.to };
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

function readKeys(): MasterKeys {
  try {
    return MasterKeys.parse(process.env['MASTER_KEYS'] ?? '');
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

async function list(database: Database): Promise<string> {
  const rows = await new IdentityKeyStore().published(database.autocommit);
  const signing = rows.findLast(({ mayHaveSigned }) => mayHaveSigned);
  if (!signing) return 'There is no key yet: the first one is made when it is needed.\n';
  const stateOf = (row: (typeof rows)[number]): string => {
    if (row === signing) return 'signs';
    return row.mayHaveSigned ? 'published, signs no more' : 'published, does not sign yet';
  };
  return rows.map((row) => `${row.kid}  ${stateOf(row)}\n`).join('');
}

function formatRotation(rotation: Rotation | null): string {
  if (!rotation)
    throw new OperatorError('The last rotation is not over: its key does not sign yet. See list.');
  const { kid, signsFrom, deleted } = rotation;
  return `${kid} signs from ${signsFrom.toISOString()}. ${deleted} keys that were no longer published are deleted.\n`;
}

async function writeFiles(database: Database, { issuer, to }: Arguments): Promise<string> {
  if (issuer === undefined || to === undefined)
    throw new OperatorError('files needs --issuer with the URL of the issuer, and --to with a folder.');
  if (!ISSUER_URL.test(issuer)) throw new OperatorError(`--issuer must be ${ISSUER_URL_MESSAGE}.`);
  const keys = (await new IdentityKeyStore().published(database.autocommit)).map(
    ({ publicKey }) => publicKey,
  );
  if (keys.length === 0) throw new OperatorError('There is no key yet: make one with rotate.');
  mkdirSync(join(to, '.well-known'), { recursive: true });
  const written = {
    [join(to, '.well-known', 'openid-configuration')]: issuerConfiguration(issuer),
    [join(to, 'jwks')]: { keys },
  };
  for (const [file, content] of Object.entries(written))
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  return Object.keys(written)
    .map((file) => `${file}\n`)
    .join('');
}

async function run(database: Database, given: Arguments): Promise<string> {
  const rotation = (): IdentityKeyRotation =>
    new IdentityKeyRotation(database, readKeys(), new IdentityKeyStore());
  switch (given.command) {
    case 'list':
      return list(database);
    case 'rotate':
      return formatRotation(await rotation().rotate());
    case 'revoke':
      return formatRotation(await rotation().revoke());
    case 'files':
      return writeFiles(database, given);
    default:
      throw new OperatorError(`There is no command ${given.command}.`);
  }
}

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    process.stdout.write(HELP);
    return;
  }
  await withDatabase({ applicationName: 'drawbridge-identity-keys', poolSize: 1 }, async (database) => {
    process.stdout.write(await run(database, given));
  });
}

main().catch((error: unknown) => {
  const isKnown = error instanceof OperatorError;
  process.stderr.write(isKnown ? `${error.message}\n${SEE_HELP}` : `${String((error as Error).stack)}\n`);
  process.exitCode = isKnown ? 2 : 1;
});
