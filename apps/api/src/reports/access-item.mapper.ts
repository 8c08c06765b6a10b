import type { AccessRow } from '#engine-store/port';
import type { AccessItemDto } from './dto/access-item.dto';

export const toAccessItem = (row: AccessRow): AccessItemDto => ({
  resource: { id: row.resourceId, name: row.resourceName },
  target: { provider: row.provider, identifier: row.identifier },
  address: row.address,
  protocol: row.protocol,
  ports: row.ports,
  holderKind: row.holderKind,
  holderId: row.holderId,
  userEmail: row.userEmail,
  cause: row.cause,
  certainFrom: row.certainFrom,
  certainUntil: row.certainUntil,
  possibleFrom: row.possibleFrom,
  possibleUntil: row.possibleUntil,
  reason: row.reason,
  ticket: row.ticket,
  approvers: row.approvers,
  breakGlass: row.breakGlass,
});
