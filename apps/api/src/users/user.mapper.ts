import type { UserRow } from '#entities';
import type { CreatedUserDto, UserDto } from './dto/user.dto';

const times = ({ lastLoginAt, createdAt, updatedAt }: UserRow) => ({
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
