import { csvLine } from '../http/csv';
import type { AccessItemDto } from './dto/access-item.dto';

const COLUMNS: readonly (readonly [name: string, value: (item: AccessItemDto) => string | Date | null])[] = [
  ['resourceId', ({ resource }) => resource.id],
  ['resourceName', ({ resource }) => resource.name],
  ['provider', ({ target }) => target.provider],
  ['target', ({ target }) => target.identifier],
  ['address', ({ address }) => address],
  ['protocol', ({ protocol }) => protocol],
  ['ports', ({ ports }) => ports],
  ['holderKind', ({ holderKind }) => holderKind],
  ['holderId', ({ holderId }) => holderId],
  ['userEmail', ({ userEmail }) => userEmail],
  ['cause', ({ cause }) => cause],
  ['certainFrom', ({ certainFrom }) => certainFrom],
  ['certainUntil', ({ certainUntil }) => certainUntil],
  ['possibleFrom', ({ possibleFrom }) => possibleFrom],
  ['possibleUntil', ({ possibleUntil }) => possibleUntil],
  ['reason', ({ reason }) => reason],
  ['ticket', ({ ticket }) => ticket],
  ['approvers', ({ approvers }) => (approvers.length === 0 ? null : approvers.join(' '))],
  ['breakGlass', ({ breakGlass }) => String(breakGlass)],
];

/** Formats a report as CSV, with a header. */
export const accessCsv = (items: readonly AccessItemDto[]): string =>
  [COLUMNS.map(([name]) => name), ...items.map((item) => COLUMNS.map(([, value]) => textOf(value(item))))]
    .map(csvLine)
    .join('');

const textOf = (value: string | Date | null): string | null =>
  value instanceof Date ? value.toISOString() : value;
