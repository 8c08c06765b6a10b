import { csvOf } from '../http/csv';
import type { AccessItemDto } from './dto/access-item.dto';

/** Formats a report as CSV, with a header. */
export const accessCsv = csvOf<AccessItemDto>([
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
  ['breakGlass', ({ breakGlass }) => breakGlass],
]);
