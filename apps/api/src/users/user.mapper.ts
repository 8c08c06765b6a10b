import type { UserRow } from '#entities';
import type { UserDto } from './dto/user.dto';

export const toUser = (row: UserRow): UserDto => ({
  ...row,
  lastLoginAt: row.lastLoginAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
