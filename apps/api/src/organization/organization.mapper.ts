import type { OrganizationRow } from '#tenant-store';
import type { OrganizationDto } from './dto/organization.dto';

export const toOrganization = (row: OrganizationRow): OrganizationDto => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
