import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Changes with everything that decides who may start which session in an organization: its plan and settings, keys,
 * users, roles, resources. Written by triggers at the end of the changing transaction.
 */
@Entity('grant_versions')
export class GrantVersionEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  /** id of the transaction that made the last change */
  @Column('bigint') version!: string;
}
