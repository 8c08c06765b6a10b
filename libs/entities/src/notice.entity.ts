import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Moment } from './columns';
import { OrganizationEntity } from './organization.entity';

/** Up to where an organization's people were told by mail what happened. */
@Entity('notice_cursors')
export class NoticeCursorEntity {
  @ForeignKey(() => OrganizationEntity, { name: 'notice_cursors_organization_id_fkey' })
  @PrimaryColumn('uuid')
  organizationId!: string;
  /** what it reads is collected before it is told; false: it is told at once */
  @PrimaryColumn('boolean') isCollected!: boolean;
  /** in the organization's chain */
  @Column({ type: 'bigint' }) position!: string;
  /** nothing is told before; null: when there is something */
  @Moment({ nullable: true }) dueAt!: Date | null;
  /** until then a worker tells; its value is the proof of the lease */
  @Moment({ default: () => 'now()' }) leasedUntil!: Date;
}
