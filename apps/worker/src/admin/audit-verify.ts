import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Database } from '#entities';
import { CheckpointKeys } from '#secrets';
import { type ChainReport, ChainVerifier, type KeptLink } from '../audit/chain-verifier';
import { ExportFolder } from '../audit/export-folder';
import { signingKeyFile, stores, withDatabase } from './deployment';
import { EXIT, type ExitCode, note, parsed, print, run, verb } from './program';

const PROGRESS_INTERVAL_MS = 2000;

interface Options {
  readonly organization?: string;
  readonly kept?: KeptLink;
  readonly publicKey: readonly string[];
  readonly exports?: string;
}

/** Computes the chains of audit records again; exits with 1 when one is broken. */
export function addAuditVerify(audit: Command): void {
  verb(
    audit,
    'verify',
    'compute the chain of audit records again and say whether it holds, for every organization or one',
    [
      '',
      '--organization acme --kept 1234:9f2c…',
      '--public-key audit-public-key.pem',
      '--exports /backup/audit',
    ],
    `Without --public-key: the key of AUDIT_SIGNING_KEY_FILE; with the database of npm start, the one in DATA_DIR.
Without --exports, a chain goes on from the recorded end of each export, which proves nothing of before: who owns
the database can record an export that never was.`,
  )
    .option('--organization <slug>', 'look at this one only')
    .option(
      '--kept <position:hash>',
      'the end of its chain as an earlier run printed it; needs --organization. Finds a chain that was written anew or cut off, too',
      parsed('<position>:<hash> as printed here before', readLink),
    )
    .addOption(
      new Option(
        '--public-key <file>',
        'PEM of an Ed25519 key that checkpoints were signed with, repeated for keys of before. Every checkpoint is then compared with the chain, which finds the same without --kept',
      )
        .argParser((file, others: readonly string[]) => [...others, file])
        .default([], "the deployment's own"),
    )
    .option(
      '--exports <folder>',
      'of audit export: what is no longer in the database is verified from its files',
    )
    .action(
      run((options: Options) =>
        withDatabase((database) => verifyAudit(database, options), { hasTimeouts: false }),
      ),
    );
}

function readLink(text: string): KeptLink | undefined {
  const [, position, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(text.toLowerCase()) ?? [];
  return position === undefined || hash === undefined ? undefined : { position: BigInt(position), hash };
}

async function verifyAudit(
  database: Database,
  { organization, kept, publicKey, exports: folder }: Options,
): Promise<ExitCode> {
  if (kept && organization === undefined)
    throw new Error('--kept needs --organization: it is the end of one organization’s chain.');
  if (folder !== undefined && !existsSync(folder)) throw new Error(`There is no folder ${folder}.`);
  const exports = folder === undefined ? null : new ExportFolder(folder);
  const keys = readKeys(publicKey);
  const organizations = await stores.auditChains.organizations(database.autocommit, organization ?? null);
  if (organization !== undefined && organizations.length === 0)
    throw new Error(`There is no organization "${organization}".`);
  let worst: ExitCode = EXIT.done;
  for (const { id, slug } of organizations) {
    const progress = progressReporter(slug);
    const verifier = new ChainVerifier(database, stores, progress, { keys, exports });
    const report = await verifier.verify(id, kept ?? null);
    print(formatReport(slug, report, exports !== null));
    if (report.broken !== null) worst = EXIT.found;
    else if (report.exported > 0 && exports === null && worst === EXIT.done) worst = EXIT.failed;
  }
  return worst;
}

function formatReport(slug: string, report: ChainReport, isEachExportRead: boolean): string {
  const { sealed, unsealed, exported, lastHash, provenTo, broken } = report;
  if (broken !== null) return `${slug}: BROKEN. ${broken} (${sealed} records before it hold)`;
  const end = sealed === 0 ? '' : `, ends in ${sealed}:${lastHash}`;
  const proven = provenTo === null ? '' : `, signed up to ${provenTo}`;
  const read = isEachExportRead
    ? 'verified from their exports'
    : 'NOT VERIFIED: they are in exports, give --exports';
  const away = exported === 0 ? '' : `, ${exported} of them ${read}`;
  return `${slug}: holds, ${sealed} records sealed${away}, ${unsealed} not sealed yet${proven}${end}`;
}

/** @returns null when no key is given or configured @throws Error when a file holds no key */
function readKeys(given: readonly string[]): CheckpointKeys | null {
  const files = given.length > 0 ? given : [signingKeyFile()].filter((file) => file !== null);
  const keys = new CheckpointKeys();
  for (const file of files)
    if (!keys.add(textOf(file))) throw new Error(`${file} holds no Ed25519 key in PEM.`);
  return keys.isEmpty ? null : keys;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reports the progress of a long run, throttled. */
function progressReporter(slug: string): (checked: number) => void {
  let lastReportAt = performance.now();
  return (checked) => {
    if (performance.now() - lastReportAt < PROGRESS_INTERVAL_MS) return;
    lastReportAt = performance.now();
    note(`${slug}: ${checked} rows checked`);
  };
}
