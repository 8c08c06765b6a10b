import type { RoleRow } from '#tenant-store';
import { TIER_LIMITS, type Tier } from '#rules';
import type { RoleDto } from './dto/role.dto';

/** A role without its own maximum uses that of the current tier. */
export const toRole = (row: RoleRow, tier: Tier): RoleDto => ({
  ...row,
  maxSessionDurationHours: row.maxSessionDurationHours ?? TIER_LIMITS[tier].sessionHours,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
