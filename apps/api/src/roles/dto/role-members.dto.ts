import { ids, NullAsAbsent } from '../../http/fields';

export const MAX_MEMBERS = 1000;

const USERS = ids(MAX_MEMBERS, 'users');
const RESOURCES = ids(MAX_MEMBERS, 'resources');

export class RoleMembersDto {
  @NullAsAbsent(USERS)
  addUserIds?: string[];

  @NullAsAbsent(USERS)
  removeUserIds?: string[];

  @NullAsAbsent(RESOURCES)
  addResourceIds?: string[];

  @NullAsAbsent(RESOURCES)
  removeResourceIds?: string[];
}
