import type { UserRow } from '#tenant-store';
import type { CreatedUserDto, UserDto } from './dto/user.dto';

const times = ({ invitedAt, lastLoginAt, createdAt, updatedAt }: UserRow) => ({
  invitedAt: invitedAt?.toISOString() ?? null,
  lastLoginAt: lastLoginAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
});

export const toUser = (row: UserRow): UserDto => ({ ...row, ...times(row) });

export const toCreatedUser = (row: UserRow, invitationUrl: string | null): CreatedUserDto => ({
  ...row,
  ...times(row),
  invitationUrl,
});
