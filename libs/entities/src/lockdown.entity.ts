import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Flag, ForeignId, Moment, Text, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';

/** An organization, or one of its users, that starts nothing until an administrator lifts it. */
@Entity('lockdowns')
@Index('lockdowns_organization_id_idx', ['organizationId'])
export class LockdownEntity {
  /** the id of the organization, or of the user */
  @PrimaryColumn('uuid') subjectId!: string;
  @ForeignId(() => OrganizationEntity, 'lockdowns_organization_id_fkey', { onDelete: 'CASCADE' })
  organizationId!: string;
  @Uuid() declaredBy!: string;
  @Text() reason!: string;
  /** static IP rules are closed meanwhile, too */
  @Flag({ default: false }) staticRules!: boolean;
  /** who administered the organization when it was declared */
  @Uuid({ array: true }) administratorIds!: string[];
  @Moment({ default: () => 'now()' }) declaredAt!: Date;
}
