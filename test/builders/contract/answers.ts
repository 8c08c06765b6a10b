import type { Schemas } from '#client';

export type User = Schemas['UserDto'] & Partial<Schemas['CreatedUserDto']>;
export type Role = Schemas['RoleDto'];
export type Key = Schemas['CreatedApiKeyDto'];
