import type { StaticIpRuleRow } from '#tenant-store';
import { overallStatus } from '#rules';
import { CLOSED, EXPIRED, type StaticIpRuleDto, type StaticIpRuleEntryDto } from './dto/static-ip-rule.dto';

export function toStaticIpRule(row: StaticIpRuleRow): StaticIpRuleDto {
  return {
    id: row.id,
    label: row.label,
    ipAddress: row.ipAddress,
    status: statusOf(row),
    createdByEmail: row.createdByEmail,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    reviewBy: row.reviewBy,
    reviewedAt: row.reviewedAt,
    reviewedByEmail: row.reviewedByEmail,
    closedOn: [...(row.closedOn ?? [])],
    resources: row.resources.map((entry) => ({
      ...entry,
      // the store omits entries that are being removed
      status: entry.status as StaticIpRuleEntryDto['status'],
      appliedAt: entry.appliedAt === null ? null : new Date(entry.appliedAt),
    })),
  };
}

/** One whose end nothing has noticed yet is still open. */
function statusOf({ closedOn, hasEnded, resources }: StaticIpRuleRow): StaticIpRuleDto['status'] {
  if (closedOn !== null) return hasEnded ? EXPIRED : CLOSED;
  return overallStatus(resources.map((entry) => entry.status));
}
