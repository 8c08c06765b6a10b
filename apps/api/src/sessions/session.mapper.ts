import type { ResourceIpRow, SessionRow } from '#tenant-store';
import type { ResourceIpDto, SessionDto } from './dto/session.dto';

const iso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());

const toResourceIp = (row: ResourceIpRow): ResourceIpDto => ({
  ...row,
  appliedAt: iso(row.appliedAt),
  removedAt: iso(row.removedAt),
});

export function toSession(row: SessionRow): SessionDto {
  return {
    id: row.id,
    userId: row.userId,
    userName: row.userName,
    userEmail: row.userEmail,
    ipv4Address: row.ipv4Address,
    ipv6Address: row.ipv6Address,
    holder: row.holder === '' ? null : row.holder,
    status: row.status,
    startedAt: row.startedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    leaseUntil: row.leaseUntil?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
    endedReason: row.endedReason,
    resourceIps: row.resourceIps.map(toResourceIp),
    createdAt: row.createdAt.toISOString(),
  };
}
