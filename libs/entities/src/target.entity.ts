import type { Provider, RemovalCause, RuleState } from '#rules';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, Id, Moment, Text, Uuid } from './columns';

/** Stands for no organization, where a column is part of an index. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

/** One target, under the name the cloud gives it. Belongs to no organization: several may name it. */
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
  /** when all of it was last compared: what is present by our record was present then */
  @Moment({ nullable: true }) comparedAt!: Date | null;
  /** of the unmanaged rules seen then: changes exactly when one of them appears or disappears */
  @Text({ nullable: true }) unmanagedDigest!: string | null;
  /** the organization whose fair share its comparisons count against */
  @Uuid({ default: NO_ORGANIZATION }) accountedTo!: string;
  @CreatedAt() createdAt!: Date;
}

/**
 * One rule that is desired, observed present, in doubt or due: what is observed absent, held by nothing and can land no
 * more is deleted.
 */
@Entity('rules')
@Unique('rules_target_id_key_key', ['targetId', 'key'])
@Index('rules_due_idx', ['dueAt'], { where: 'due_at IS NOT NULL' })
@Index('rules_target_due_idx', ['targetId', 'dueAt'], { where: 'due_at IS NOT NULL' })
@Index('rules_work_idx', { synchronize: false })
@Index('rules_unwanted_idx', ['overdueAt', 'unwantedSince'], { where: 'unwanted_since IS NOT NULL' })
@Index('rules_over_idx', ['id'], { where: `state = 'absent' AND due_at IS NULL` })
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
  @Flag({ default: false }) isUnmanaged!: boolean;
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
  /** how often another program took it out within the hour after `lostAt` */
  @Count({ default: 0 }) lostCount!: number;
  @Moment({ nullable: true }) lostAt!: Date | null;
  /** since when the cloud says that its whole object is gone */
  @Moment({ nullable: true }) targetMissingSince!: Date | null;
  /** why it is to be removed, and since when; null while it is desired */
  @Text({ nullable: true }) cause!: RemovalCause | null;
  @Moment({ nullable: true }) unwantedSince!: Date | null;
  /** when it was reported that it should be gone and is not */
  @Moment({ nullable: true }) overdueAt!: Date | null;
  /** from when on its address may have been let in, and was for certain; null: not */
  @Moment({ nullable: true }) possibleSince!: Date | null;
  @Moment({ nullable: true }) presentSince!: Date | null;
  /** when a pass last observed it present; a comparison of the whole target notes that in the target */
  @Moment({ nullable: true }) observedAt!: Date | null;
  /** when the first removal was sent, or it was not observed any more: since then it is not certain that it is present */
  @Moment({ nullable: true }) removalSentAt!: Date | null;
  /** it was present and disappeared: the next time it is present it is restored */
  @Flag({ default: false }) isMissing!: boolean;
  /** it is ours by its provider id alone, and that was recorded */
  @Flag({ default: false }) isUnmarked!: boolean;
  /** another program removes it again and again: it is left alone until `dueAt` */
  @Flag({ default: false }) isSuspended!: boolean;
  /** until then a host's kernel keeps it, as its agent was told; infinity: without an end */
  @Moment({ nullable: true }) offeredUntil!: Date | null;
  /** the organization whose fair share it counts against: whose holder made it due last */
  @Uuid({ default: NO_ORGANIZATION }) accountedTo!: string;
  @CreatedAt() createdAt!: Date;
}

/** A rule that this deployment did not create, seen by the last comparison. Never modified. */
@Entity('unmanaged_rules')
export class UnmanagedRuleEntity {
  @ForeignKey(() => TargetEntity, { name: 'unmanaged_rules_target_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  targetId!: string;
  @PrimaryColumn('text') key!: string;
  @PrimaryColumn('text') providerRuleId!: string;
  /** the comparison before; null: it was there at the first one */
  @Moment({ nullable: true }) possibleSince!: Date | null;
  @Moment() presentSince!: Date;
}

/** Which worker sweeps, and until when. */
@Entity('sweeper_lease')
@Check('sweeper_lease_one_row', 'id = 1')
export class SweeperLeaseEntity {
  @PrimaryColumn('integer') id!: number;
  @Text() workerId!: string;
  @Moment() leaseUntil!: Date;
  /** when a worker last stood by */
  @Moment({ nullable: true }) othersSeenAt!: Date | null;
}

/** Written by readiness checks. */
@Entity('write_probe')
@Check('write_probe_one_row', 'id = 1')
export class WriteProbeEntity {
  @PrimaryColumn('integer') id!: number;
  @Moment() writtenAt!: Date;
}

/** What one cloud account still lets us write: a token bucket on the database's clock, shared by all workers. */
@Entity('write_budgets')
export class WriteBudgetEntity {
  @PrimaryColumn('text') accountKey!: string;
  @Column({ type: 'double precision' }) tokens!: number;
  @Moment() refilledAt!: Date;
}
