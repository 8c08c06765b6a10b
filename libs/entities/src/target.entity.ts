import type { Provider, RuleState } from '#rules';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Moment, Text, Uuid } from './columns';

/** One cloud object, under the name the cloud gives it. Belongs to no organization: several may name it. */
@Entity('targets')
@Unique('targets_key_key', ['key'])
@Index('targets_reconcile_due_idx', ['reconcileDueAt'])
export class TargetEntity {
  @Id() id!: string;
  @Text() provider!: Provider;
  @Text() key!: string;
  @Text() resourceType!: string;
  @Text() identifier!: string;
  /** who may converge it now, on this database's clock */
  @Moment({ nullable: true }) leaseUntil!: Date | null;
  /** grows with every lease; a result is written only under the generation it was worked out in */
  @Column({ type: 'bigint', default: 0 }) leaseGeneration!: string;
  /** writes keep a distance from the last one, so that what arrives meanwhile goes into one call */
  @Moment({ nullable: true }) lastWriteAt!: Date | null;
  /** how many changes that write had: many tell of a burst */
  @Count({ default: 0 }) lastWriteSize!: number;
  /** until then a write of its whole list may still land that nobody heard of, and undo what was written since */
  @Moment({ nullable: true }) inFlightUntil!: Date | null;
  /** when it is compared with the cloud next */
  @Moment({ default: () => 'now()' }) reconcileDueAt!: Date;
  /** somebody asked for it: the outcome is told even when it is the same as before */
  @Flag({ default: false }) reconcileRequested!: boolean;
  @CreatedAt() createdAt!: Date;
}

/** One opening in one cloud object. Never deleted while the cloud may hold it. */
@Entity('rules')
@Unique('rules_target_id_key_key', ['targetId', 'key'])
@Index('rules_due_idx', ['dueAt'], { where: 'due_at IS NOT NULL' })
@Index('rules_target_due_idx', ['targetId', 'dueAt'], { where: 'due_at IS NOT NULL' })
@Check('rules_state_check', `state IN ('absent', 'unknown', 'present')`)
export class RuleEntity {
  @Id() id!: string;
  @ForeignKey(() => TargetEntity, { name: 'rules_target_id_fkey' })
  @Uuid()
  targetId!: string;
  @Text() key!: string;
  /** canonical CIDR */
  @Text() address!: string;
  @Text() protocol!: string;
  @Text() ports!: string;
  @Text({ default: 'absent' }) state!: RuleState;
  /** it stands in the cloud without our mark: never ours to remove */
  @Flag({ default: false }) isForeign!: boolean;
  @Text({ nullable: true }) providerRuleId!: string | null;
  /** the credential and region it was written with: the way back to it when no holder is left */
  @Uuid({ nullable: true }) credentialId!: string | null;
  @Text({ nullable: true }) region!: string | null;
  /** when to look at it next; null: settled */
  @Moment({ nullable: true }) dueAt!: Date | null;
  /** somebody has let go of it: it is looked at before what waits to be opened */
  @Flag({ default: false }) closing!: boolean;
  /** grows with every change of its holders, so that a worker never settles what changed meanwhile */
  @Count({ default: 0 }) revision!: number;
  /** the revision its agent was told last; null: none was ever told of it */
  @Count({ nullable: true }) offeredRevision!: number | null;
  @Count({ default: 0 }) attempts!: number;
  /** until then a call whose outcome nobody knows may still land */
  @Moment({ nullable: true }) inFlightUntil!: Date | null;
  @Text({ nullable: true }) lastError!: string | null;
  /** how often a foreign hand took it out within the hour after `lostAt` */
  @Count({ default: 0 }) lostCount!: number;
  @Moment({ nullable: true }) lostAt!: Date | null;
  /** since when the cloud says that its whole object is gone */
  @Moment({ nullable: true }) targetMissingSince!: Date | null;
  @CreatedAt() createdAt!: Date;
}

/** What one cloud account still lets us write: a token bucket on the database's clock, shared by all workers. */
@Entity('write_budgets')
export class WriteBudgetEntity {
  @PrimaryColumn('text') accountKey!: string;
  @Column({ type: 'double precision' }) tokens!: number;
  @Moment() refilledAt!: Date;
}
