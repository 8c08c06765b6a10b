import { Check, Entity, Generated, Index, PrimaryColumn, Unique } from 'typeorm';
import {
  Count,
  CreatedAt,
  Flag,
  ForeignId,
  Id,
  Json,
  Moment,
  SameOrganization,
  Text,
  UpdatedAt,
  Uuid,
} from './columns';
import { OrganizationEntity } from './organization.entity';
import { ResourceEntity } from './resource.entity';
import { UserEntity } from './user.entity';

@Entity('roles')
@Unique('roles_organization_id_id_key', ['organizationId', 'id'])
@Unique('roles_organization_id_name_key', ['organizationId', 'name'])
@Check('roles_max_session_duration_hours_check', 'max_session_duration_hours BETWEEN 1 AND 24')
@Check('roles_approvals_check', 'approvals BETWEEN 0 AND 2')
@Check('roles_ipv6_prefix_length_check', 'ipv6_prefix_length BETWEEN 64 AND 128')
export class RoleEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'roles_organization_id_fkey') organizationId!: string;
  @Text() name!: string;
  @Text({ nullable: true }) description!: string | null;
  /** null: the maximum of the organization's tier */
  @Count({ nullable: true }) maxSessionDurationHours!: number | null;
  @Flag({ default: false }) requireReason!: boolean;
  /** that a required reason matches; null: any */
  @Text({ nullable: true }) reasonPattern!: string | null;
  /** by others, before a session starts */
  @Count({ default: 0 }) approvals!: number;
  /** no foreign key: a role that is deleted is taken out. empty: administrators decide */
  @Uuid({ array: true, default: [] }) approverRoleIds!: string[];
  @Flag({ default: false }) mayBreakGlass!: boolean;
  /** of what is opened for an IPv6 address */
  @Count({ default: 128 }) ipv6PrefixLength!: number;
  /** of each key one of the values; null: it reaches only what is assigned to it. `role_selectors` has its combinations */
  @Json({ nullable: true }) resourceSelector!: Record<string, string[]> | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** A set of labels of which a resource needs all. */
@Entity('role_selectors')
@SameOrganization(() => RoleEntity, 'roleId', 'role_selectors_role_fkey', 'CASCADE')
export class RoleSelectorEntity {
  @PrimaryColumn('uuid') roleId!: string;
  @PrimaryColumn('jsonb') labels!: Record<string, string>;
  @Uuid() organizationId!: string;
}

@Entity('role_resources')
@SameOrganization(() => RoleEntity, 'roleId', 'role_resources_role_fkey', 'CASCADE')
@SameOrganization(() => ResourceEntity, 'resourceId', 'role_resources_resource_fkey', 'CASCADE')
export class RoleResourceEntity {
  @PrimaryColumn('uuid') roleId!: string;
  @PrimaryColumn('uuid') resourceId!: string;
  @Uuid() organizationId!: string;
  @CreatedAt() createdAt!: Date;
}

@Entity('role_users')
@Index('role_users_id_key', ['id'], { unique: true })
@SameOrganization(() => RoleEntity, 'roleId', 'role_users_role_fkey', 'CASCADE')
@SameOrganization(() => UserEntity, 'userId', 'role_users_user_fkey', 'CASCADE')
export class RoleUserEntity {
  /** first in the key: every session start looks up a user's roles */
  @PrimaryColumn('uuid') userId!: string;
  @PrimaryColumn('uuid') roleId!: string;
  @Uuid() organizationId!: string;
  @Uuid() @Generated('uuid') id!: string;
  /** whose pattern of groups gave it; null: an administrator or a mapping did */
  @Uuid({ nullable: true }) givenByProviderId!: string | null;
  /** when an administrator confirmed it last, and who */
  @Moment({ nullable: true }) reviewedAt!: Date | null;
  @Text({ nullable: true }) reviewedByEmail!: string | null;
  @CreatedAt() createdAt!: Date;
}
