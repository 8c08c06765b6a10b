import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { loadSettings, SettingsError } from '#config';
import { AuditChainStore, Database } from '#entities';
import { IsNotEmpty, IsString } from 'class-validator';
import { ChainVerifier, type ChainReport, type KeptLink } from './audit/chain-verifier';

const USAGE = 'npm run verify-audit -- [--organization <slug> [--kept <position>:<hash>]]';
const PROGRESS_EVERY_MS = 2000;
const BROKEN = 1;
const NOT_VERIFIED = 2;

class VerifySettings {
  @IsString({ message: 'DATABASE_URL must be the address of a PostgreSQL database' })
  @IsNotEmpty({ message: 'DATABASE_URL must be the address of a PostgreSQL database' })
  DATABASE_URL!: string;
}

class UsageError extends Error {}

interface Asked {
  readonly slug: string | null;
  readonly kept: KeptLink | null;
}

/** @throws UsageError */
function asked(): Asked {
  const { organization, kept } = given();
  if (kept === undefined) return { slug: organization ?? null, kept: null };
  const [, position, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(kept.toLowerCase()) ?? [];
  if (organization === undefined || position === undefined || hash === undefined) {
    throw new UsageError('--kept takes <position>:<hash> as printed here before, with --organization');
  }
  return { slug: organization, kept: { position: BigInt(position), hash } };
}

function given(): { organization?: string | undefined; kept?: string | undefined } {
  try {
    return parseArgs({ options: { organization: { type: 'string' }, kept: { type: 'string' } } }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function inWords(slug: string, { sealed, unsealed, lastHash, broken }: ChainReport): string {
  if (broken !== null) return `${slug}: BROKEN. ${broken} (${sealed} records before it hold)\n`;
  const end = sealed === 0 ? '' : `, ends in ${sealed}:${lastHash}`;
  return `${slug}: holds, ${sealed} records sealed, ${unsealed} not sealed yet${end}\n`;
}

/** Tells on stderr, now and then, how far a long run has come. */
function progressOf(slug: string): (checked: number) => void {
  let told = performance.now();
  return (checked) => {
    if (performance.now() - told < PROGRESS_EVERY_MS) return;
    told = performance.now();
    process.stderr.write(`${slug}: ${checked} rows checked\n`);
  };
}

async function verifyAudit(): Promise<void> {
  const { slug: onlySlug, kept } = asked();
  const { DATABASE_URL: url } = loadSettings(VerifySettings, process.env);
  const database = await new Database({ url, applicationName: 'drawbridge-verify', poolSize: 2 }).connect();
  try {
    const chain = new AuditChainStore();
    const organizations = await chain.organizations(database.autocommit, onlySlug);
    if (onlySlug !== null && organizations.length === 0) {
      throw new UsageError(`There is no organization "${onlySlug}"`);
    }
    for (const { id, slug } of organizations) {
      const report = await new ChainVerifier(database, chain, progressOf(slug)).verify(id, kept);
      process.stdout.write(inWords(slug, report));
      if (report.broken !== null) process.exitCode = BROKEN;
    }
  } finally {
    await database.close();
  }
}

verifyAudit().catch((error: unknown) => {
  const isPlain = error instanceof UsageError || error instanceof SettingsError;
  process.stderr.write(`${isPlain ? error.message : String((error as Error).stack)}\n`);
  if (error instanceof UsageError) process.stderr.write(`Usage: ${USAGE}\n`);
  process.exitCode = NOT_VERIFIED;
});
