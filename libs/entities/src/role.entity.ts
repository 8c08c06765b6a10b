import { Check, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Id, Text, UpdatedAt, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';
import { ResourceEntity } from './resource.entity';
import { UserEntity } from './user.entity';

@Entity('roles')
@Unique('roles_organization_id_id_key', ['organizationId', 'id'])
@Unique('roles_organization_id_name_key', ['organizationId', 'name'])
@Check('roles_max_session_duration_hours_check', 'max_session_duration_hours BETWEEN 1 AND 24')
export class RoleEntity {
  @Id() id!: string;
  @ForeignKey(() => OrganizationEntity, { name: 'roles_organization_id_fkey' })
  @Uuid()
  organizationId!: string;
  @Text() name!: string;
  @Text({ nullable: true }) description!: string | null;
  /** null: the maximum of the organization's tier */
  @Count({ nullable: true }) maxSessionDurationHours!: number | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

@Entity('role_resources')
@ForeignKey(() => RoleEntity, ['organizationId', 'roleId'], ['organizationId', 'id'], {
  name: 'role_resources_role_fkey',
  onDelete: 'CASCADE',
})
@ForeignKey(() => ResourceEntity, ['organizationId', 'resourceId'], ['organizationId', 'id'], {
  name: 'role_resources_resource_fkey',
  onDelete: 'CASCADE',
})
export class RoleResourceEntity {
  @PrimaryColumn('uuid') roleId!: string;
  @PrimaryColumn('uuid') resourceId!: string;
  @Uuid() organizationId!: string;
  @CreatedAt() createdAt!: Date;
}

@Entity('role_users')
@ForeignKey(() => RoleEntity, ['organizationId', 'roleId'], ['organizationId', 'id'], {
  name: 'role_users_role_fkey',
  onDelete: 'CASCADE',
})
@ForeignKey(() => UserEntity, ['organizationId', 'userId'], ['organizationId', 'id'], {
  name: 'role_users_user_fkey',
  onDelete: 'CASCADE',
})
export class RoleUserEntity {
  /** first in the key: every session start looks up a user's roles */
  @PrimaryColumn('uuid') userId!: string;
  @PrimaryColumn('uuid') roleId!: string;
  @Uuid() organizationId!: string;
  @CreatedAt() createdAt!: Date;
}
