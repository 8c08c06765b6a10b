import type { StaticIpRuleRow } from '#tenant-store';
import { overallStatus } from '#rules';
import { CLOSED, type StaticIpRuleDto, type StaticIpRuleEntryDto } from './dto/static-ip-rule.dto';

export function toStaticIpRule(row: StaticIpRuleRow): StaticIpRuleDto {
  return {
    id: row.id,
    label: row.label,
    ipAddress: row.ipAddress,
    status: row.isClosed ? CLOSED : overallStatus(row.resources.map((entry) => entry.status)),
    createdByEmail: row.createdByEmail,
    createdAt: row.createdAt,
    resources: row.resources.map((entry) => ({
      ...entry,
      // the store omits entries that are being removed
      status: entry.status as StaticIpRuleEntryDto['status'],
      appliedAt: entry.appliedAt === null ? null : new Date(entry.appliedAt),
    })),
  };
}
