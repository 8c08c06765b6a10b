import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Database } from '#entities';
import { AuditChainStore } from '#tenant-store';
import { CheckpointKeys } from '#secrets';
import { ChainVerifier, type ChainReport, type KeptLink } from './audit/chain-verifier';
import { ExportFolder } from './audit/export-folder';
import { embeddedSigningKey } from './embedded-database-url';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `Computes the chain of audit records again and says whether it holds, for every organization or one.

  npm run verify-audit -- [--organization slug [--kept position:hash]] [--public-key file ...] [--exports folder]

  --organization  look at this one only
  --kept          the end of its chain as an earlier run printed it; needs --organization.
                  Finds a chain that was written anew or cut off, too
  --public-key    PEM of an Ed25519 key that checkpoints were signed with; several for keys of before.
                  Every checkpoint is then compared with the chain, which finds the same without --kept.
                  Without it: the key of AUDIT_SIGNING_KEY_FILE, or the one that npm start keeps in DATA_DIR
  --exports       the folder of npm run export-audit: what is no longer in the database is verified from its files.
                  Without it, the chain goes on from the recorded end of each export, which proves nothing of before:
                  whoever owns the database can record an export that never was

The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running.
Exits with 0 when every chain holds, 1 when one is broken, 2 when nothing, or not all, could be verified.
`;
const SEE_HELP = 'For help: npm run verify-audit -- --help\n';
const PROGRESS_INTERVAL_MS = 2000;
const BROKEN = 1;
const NOT_VERIFIED = 2;

interface Arguments {
  readonly slug: string | null;
  readonly kept: KeptLink | null;
  readonly publicKeys: readonly string[];
  readonly exports: ExportFolder | null;
}

/** @returns null when help was requested @throws OperatorError */
function readArguments(): Arguments | null {
  const { help, organization, kept, 'public-key': publicKeys = [], exports: folder } = parse();
  if (help) return null;
  if (folder !== undefined && !existsSync(folder)) throw new OperatorError(`There is no folder ${folder}.`);
  const exports = folder === undefined ? null : new ExportFolder(folder);
  if (kept === undefined) return { slug: organization ?? null, kept: null, publicKeys, exports };
  const [, position, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(kept.toLowerCase()) ?? [];
  if (position === undefined || hash === undefined) {
    throw new OperatorError('--kept takes <position>:<hash> as printed here before.');
  }
  if (organization === undefined) {
    throw new OperatorError('--kept needs --organization: it is the end of one organization’s chain.');
  }
  return { slug: organization, kept: { position: BigInt(position), hash }, publicKeys, exports };
}

function parse() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        organization: { type: 'string' },
        kept: { type: 'string' },
        'public-key': { type: 'string', multiple: true },
        exports: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

function formatReport(slug: string, report: ChainReport, isEachExportRead: boolean): string {
  const { sealed, unsealed, exported, lastHash, provenTo, broken } = report;
  if (broken !== null) return `${slug}: BROKEN. ${broken} (${sealed} records before it hold)\n`;
  const end = sealed === 0 ? '' : `, ends in ${sealed}:${lastHash}`;
  const proven = provenTo === null ? '' : `, signed up to ${provenTo}`;
  const read = isEachExportRead
    ? 'verified from their exports'
    : 'NOT VERIFIED: they are in exports, give --exports';
  const away = exported === 0 ? '' : `, ${exported} of them ${read}`;
  return `${slug}: holds, ${sealed} records sealed${away}, ${unsealed} not sealed yet${proven}${end}\n`;
}

/** @returns null when no key is given or configured @throws OperatorError when a file holds no key */
function readKeys(given: readonly string[]): CheckpointKeys | null {
  const configured = process.env['AUDIT_SIGNING_KEY_FILE'];
  const embedded = process.env['DATABASE_URL'] ? null : embeddedSigningKey(process.env);
  const kept = configured || embedded;
  const files = given.length === 0 && kept ? [kept] : given;
  const keys = new CheckpointKeys();
  for (const file of files) {
    if (!keys.add(textOf(file))) throw new OperatorError(`${file} holds no Ed25519 key in PEM.`);
  }
  return keys.isEmpty ? null : keys;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** Reports the progress of a long run on stderr, throttled. */
function progressReporter(slug: string): (checked: number) => void {
  let lastReportAt = performance.now();
  return (checked) => {
    if (performance.now() - lastReportAt < PROGRESS_INTERVAL_MS) return;
    lastReportAt = performance.now();
    process.stderr.write(`${slug}: ${checked} rows checked\n`);
  };
}

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    process.stdout.write(HELP);
    return;
  }
  const settings = { applicationName: 'drawbridge-verify', poolSize: 2, hasTimeouts: false };
  await withDatabase(settings, (database) => verifyAudit(database, given));
}

/** @throws OperatorError when there is no such organization */
async function verifyAudit(
  database: Database,
  { slug: onlySlug, kept, publicKeys, exports }: Arguments,
): Promise<void> {
  const keys = readKeys(publicKeys);
  const chain = new AuditChainStore();
  const organizations = await chain.organizations(database.autocommit, onlySlug);
  if (onlySlug !== null && organizations.length === 0) {
    throw new OperatorError(`There is no organization "${onlySlug}".`);
  }
  for (const { id, slug } of organizations) {
    const report = await new ChainVerifier(
      database,
      chain,
      progressReporter(slug),
      undefined,
      keys,
      exports,
    ).verify(id, kept);
    process.stdout.write(formatReport(slug, report, exports !== null));
    if (report.broken !== null) process.exitCode = BROKEN;
    else if (report.exported > 0 && exports === null) process.exitCode ??= NOT_VERIFIED;
  }
}

main().catch((error: unknown) => {
  const message =
    error instanceof OperatorError ? `${error.message}\n${SEE_HELP}` : `${String((error as Error).stack)}\n`;
  process.stderr.write(message);
  process.exitCode = NOT_VERIFIED;
});
