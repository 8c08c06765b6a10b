import type { ChainLink, SealedRecord } from '#tenant-store';
import { csvLine } from '../http/csv';

/** What the last line of an export says: how far it read, and how many records it has. */
export interface ExportEnd extends Omit<ChainLink, 'record'> {
  readonly records: number;
}

/** How an export is written. Its last line is `end`: without it the export is not complete. */
export interface ExportFormat {
  readonly type: string;
  readonly head: string;
  readonly line: (record: SealedRecord) => string;
  readonly end: (end: ExportEnd) => string;
}

const SEAL = ['position', 'hashBefore', 'hash'] as const;
const RECORD = [
  ...(['id', 'timestamp', 'eventType', 'actorType', 'actorId', 'actorEmail', 'resourceType'] as const),
  ...(['resourceId', 'resourceName', 'result', 'ipAddress', 'errorMessage'] as const),
];

/** `jsonl`: a line has all that is sealed. `csv`: for people. */
export const EXPORT_FORMATS: Readonly<Record<'jsonl' | 'csv', ExportFormat>> = {
  jsonl: {
    type: 'application/x-ndjson',
    head: '',
    line: (record) => `${JSON.stringify(record)}\n`,
    end: (end) => `${JSON.stringify({ end })}\n`,
  },
  csv: {
    type: 'text/csv',
    head: csvLine([...SEAL, ...RECORD, 'details']),
    line: (sealed) =>
      csvLine([
        ...SEAL.map((name) => sealed[name]),
        ...RECORD.map((name) => sealed.record?.[name] ?? null),
        sealed.record && JSON.stringify(sealed.record.details),
      ]),
    end: ({ position, hash, records }) => csvLine(['end', position, hash, `${records} records`]),
  },
};
