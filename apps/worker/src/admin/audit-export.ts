import type { Command } from 'commander';
import { postgresErrorField } from '#entities';
import { AuditExport, type ExportReport, type MonthOutcome } from '../audit/audit-export';
import { ExportFolder } from '../audit/export-folder';
import { stores, withDatabase } from './deployment';
import { EXIT, type ExitCode, parsed, print, run, verb } from './program';

const NOT_OWNER = '42501';

const OUTCOMES: Readonly<Record<MonthOutcome, string>> = {
  exported: 'exported',
  dropped: 'exported and dropped',
  open: 'kept: something that began in it is still open',
  unsealed: 'kept: not all of its records are sealed yet, is a worker running?',
  written: 'kept: a record of it was written meanwhile, run this again',
  later: 'kept: the audit trail was in use, run this again',
};

interface Options {
  readonly to: string;
  readonly keepMonths: number;
  readonly drop?: boolean;
}

/** Writes whole months of audit records to files, and removes them from the database if asked to. */
export function addAuditExport(audit: Command): void {
  verb(
    audit,
    'export',
    'write whole months of audit records to files, and remove them from the database if asked to',
    ['--to /backup/audit --keep-months 24', '--to /backup/audit --keep-months 24 --drop'],
    'The role of DATABASE_URL is the owner of the tables. An interrupted run can be repeated.',
  )
    .requiredOption('--to <folder>', 'for the files. Keep it: audit verify --exports verifies chains from it')
    .requiredOption(
      '--keep-months <number>',
      'how many whole months before this one stay in the database, at least 1',
      parsed('a whole number of at least 1', (text) =>
        /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined,
      ),
    )
    .option(
      '--drop',
      'after a month was written and read back, drop it. A month is kept in which a rule, a session or a static IP rule began that is still open',
    )
    .action(run(exportAudit));
}

async function exportAudit({ to, keepMonths, drop = false }: Options): Promise<ExitCode> {
  try {
    return await withDatabase(
      async (database) => {
        let isComplete = true;
        for await (const report of new AuditExport(database, stores.auditExports, new ExportFolder(to)).run(
          keepMonths,
          drop,
        )) {
          print(formatReport(report));
          isComplete &&= report.outcome === 'exported' || report.outcome === 'dropped';
        }
        return isComplete ? EXIT.done : EXIT.found;
      },
      { hasTimeouts: false },
    );
  } catch (error) {
    if (postgresErrorField(error, 'code') !== NOT_OWNER) throw error;
    throw new Error('DATABASE_URL must be the address of the owner of the tables.', { cause: error });
  }
}

const formatReport = ({ month, outcome, ranges }: ExportReport): string =>
  [
    `${month}: ${OUTCOMES[outcome]}`,
    ...ranges.map(
      ({ organizationId, firstPosition, lastPosition, hash }) =>
        `  ${organizationId}: ${firstPosition} to ${lastPosition}, ends in ${lastPosition}:${hash}`,
    ),
  ].join('\n');
