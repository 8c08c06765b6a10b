import { createHash } from 'node:crypto';

/** The previous hash of an organization's first record. */
export const BEFORE_FIRST_RECORD = '0'.repeat(64);

/**
 * The hash that seals a record at the end of its organization's chain, in lower-case hex. It needs no secret:
 *
 *     SHA-256( <hash before, 64 characters> <line feed> <the record as canonical JSON, UTF-8> )
 *
 * Canonical JSON is RFC 8785: no blanks, members sorted by name, strings and numbers as ECMAScript prints them. The
 * record's members are its columns: `id`, `organizationId`, `sequence` and `transactionId` (decimal strings),
 * `eventType`, `timestamp` (UTC with six decimals, `2026-01-31T09:30:00.000000Z`), `actorType`, `actorId`, `actorEmail`,
 * `resourceType`, `resourceId`, `resourceName`, `result`, `ipAddress`, `errorMessage` and `details`; unset members are
 * null.
 * @param previous the hash of the record sealed last, or `BEFORE_FIRST_RECORD`
 * @param record JSON values only: text, finite numbers, booleans, null, arrays, plain objects
 */
export function auditSealHash(previous: string, record: object): string {
  return createHash('sha256')
    .update(`${previous}\n${canonicalJson(record)}`, 'utf8')
    .digest('hex');
}

/** RFC 8785: one text per JSON value, independent of the order of members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    // by UTF-16 code units, as < compares
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
