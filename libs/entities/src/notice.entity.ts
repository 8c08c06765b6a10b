import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Moment } from './columns';
import { OrganizationEntity } from './organization.entity';

/** What is reported together: to administrators at once, to those who hold access at once, to administrators in one mail. */
export const NOTICE_CURSORS = ['URGENT', 'HOLDERS', 'COLLECTED'] as const;
export type NoticeCursorKind = (typeof NOTICE_CURSORS)[number];

/** Up to where an organization's people have got notices by mail. */
@Entity('notice_cursors')
@Check('notice_cursors_kind_check', `kind IN ('URGENT', 'HOLDERS', 'COLLECTED')`)
export class NoticeCursorEntity {
  @ForeignKey(() => OrganizationEntity, { name: 'notice_cursors_organization_id_fkey' })
  @PrimaryColumn('uuid')
  organizationId!: string;
  @PrimaryColumn('text') kind!: NoticeCursorKind;
  /** in the organization's chain */
  @Column({ type: 'bigint' }) position!: string;
  /** nothing is sent before; null: when there is something */
  @Moment({ nullable: true }) dueAt!: Date | null;
  /** until then a worker tells; its value is the proof of the lease */
  @Moment({ default: () => 'now()' }) leasedUntil!: Date;
}
