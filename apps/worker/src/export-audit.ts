import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { postgresErrorField } from '#entities';
import { AuditExport, type ExportReport, type MonthOutcome } from './audit/audit-export';
import { ExportFolder, ExportProblem } from './audit/export-folder';
import { OperatorError, withDatabase } from './operator-command';

const HELP = `Writes whole months of audit records to files, and removes them from the database if asked to.

  npm run export-audit -- --to folder --keep-months number [--drop]

  --to           the folder for the files. Keep it: verify-audit --exports verifies chains from it
  --keep-months  how many whole months before this one stay in the database, at least 1
  --drop         after a month was written and read back, drop it. A month is kept in which a rule, a session or a
                 static IP rule began that is still open

The database is DATABASE_URL's, else the one that npm start keeps in DATA_DIR (.data) and is running; it needs the
owner of its tables. An interrupted run can be repeated.
Exits with 0 when every month is done, 1 when one had to stay, 2 when nothing could be done.
`;
const SEE_HELP = 'For help: npm run export-audit -- --help\n';
const NOT_OWNER = '42501';
const KEPT = 1;
const FAILED = 2;

const OUTCOMES: Readonly<Record<MonthOutcome, string>> = {
  exported: 'exported',
  dropped: 'exported and dropped',
  open: 'kept: something that began in it is still open',
  unsealed: 'kept: not all of its records are sealed yet, is a worker running?',
  written: 'kept: a record of it was written meanwhile, run this again',
  later: 'kept: the audit trail was in use, run this again',
};

interface Arguments {
  readonly to: string;
  readonly keptMonths: number;
  readonly isDropped: boolean;
}

/** @returns null when help was requested @throws OperatorError */
function readArguments(): Arguments | null {
  const { help, to, 'keep-months': months, drop } = parse();
  if (help) return null;
  if (to === undefined) throw new OperatorError('--to needs the folder to write to.');
  if (months === undefined || !/^[1-9]\d{0,3}$/.test(months)) {
    throw new OperatorError('--keep-months takes a whole number of at least 1.');
  }
  return { to, keptMonths: Number(months), isDropped: drop };
}

function parse() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        to: { type: 'string' },
        'keep-months': { type: 'string' },
        drop: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new OperatorError((error as Error).message);
  }
}

function formatReport({ month, outcome, ranges }: ExportReport): string {
  const ends = ranges.map(
    ({ organizationId, firstPosition, lastPosition, hash }) =>
      `  ${organizationId}: ${firstPosition} to ${lastPosition}, ends in ${lastPosition}:${hash}\n`,
  );
  return `${month}: ${OUTCOMES[outcome]}\n${ends.join('')}`;
}

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    process.stdout.write(HELP);
    return;
  }
  const settings = { applicationName: 'drawbridge-export', poolSize: 1, hasTimeouts: false };
  await withDatabase(settings, async (database) => {
    const reports = new AuditExport(database, new ExportFolder(given.to)).run(
      given.keptMonths,
      given.isDropped,
    );
    for await (const report of reports) {
      process.stdout.write(formatReport(report));
      if (report.outcome !== 'exported' && report.outcome !== 'dropped') process.exitCode = KEPT;
    }
  });
}

main().catch((error: unknown) => {
  const isKnown = error instanceof OperatorError || error instanceof ExportProblem;
  const isDenied = postgresErrorField(error, 'code') === NOT_OWNER;
  const message = isDenied
    ? 'DATABASE_URL must be the address of the owner of the tables.'
    : (error as Error).message;
  process.stderr.write(
    isKnown || isDenied ? `${message}\n${SEE_HELP}` : `${String((error as Error).stack)}\n`,
  );
  process.exitCode = FAILED;
});
