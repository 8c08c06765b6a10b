import type { AccessRow } from '#engine-store/port';
import type { AccessItemDto } from './dto/access-item.dto';

const iso = (time: Date | null): string | null => time?.toISOString() ?? null;

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
  certainFrom: iso(row.certainFrom),
  certainUntil: iso(row.certainUntil),
  possibleFrom: iso(row.possibleFrom),
  possibleUntil: iso(row.possibleUntil),
});
