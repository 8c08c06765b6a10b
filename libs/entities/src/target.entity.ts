import type { Provider, RemovalCause, Room, RuleState } from '#rules';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Flag, ForeignId, Id, Json, Moment, Text, Uuid } from './columns';

/** Placeholder for no organization in indexed columns. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';

/** One target by its name in the cloud. Belongs to no organization: resources of several may point at it. */
@Entity('targets')
@Unique('targets_key_key', ['key'])
@Index('targets_reconcile_due_idx', ['reconcileDueAt'])
@Index('targets_account_key_idx', ['accountKey'], { where: 'account_key IS NOT NULL' })
export class TargetEntity {
  @Id() id!: string;
  @Text() provider!: Provider;
  @Text() key!: string;
  @Text() resourceType!: string;
  @Text() identifier!: string;
  /** end of the convergence lease, by the database's clock */
  @Moment({ nullable: true }) leaseUntil!: Date | null;
  /** fencing token, incremented with every lease: a result is written only under the generation it was computed in */
  @Column({ type: 'bigint', default: 0 }) leaseGeneration!: string;
  /** writes are spaced from the last one, so that changes in between are batched into one call */
  @Moment({ nullable: true }) lastWriteAt!: Date | null;
  /** how many changes that write had: many indicate a burst */
  @Count({ default: 0 }) lastWriteSize!: number;
  /** its account was short of writes then */
  @Flag({ default: false }) wasShort!: boolean;
  /** until then an in-doubt write of its whole list may still take effect and undo later writes */
  @Moment({ nullable: true }) inFlightUntil!: Date | null;
  /** when the next reconciliation is due */
  @Moment({ default: () => 'now()' }) reconcileDueAt!: Date;
  /** reconciliation was requested: the outcome is reported even when unchanged */
  @Flag({ default: false }) reconcileRequested!: boolean;
  /** time of the last complete comparison: rules recorded as present were present then */
  @Moment({ nullable: true }) comparedAt!: Date | null;
  /** digest of the unmanaged rules observed then: changes when one of them appears or disappears */
  @Text({ nullable: true }) unmanagedDigest!: string | null;
  /** when a rule with our mark and an id that this database has not issued was last due for removal */
  @Moment({ nullable: true }) unissuedRemovedAt!: Date | null;
  /** how many rules it has and may have, as last read; null: no limit is known */
  @Json({ nullable: true }) room!: Room[] | null;
  /** whose write budget its changes spend, since a path to it was proven */
  @Text({ nullable: true }) accountKey!: string | null;
  /** the organization whose fair share its reconciliations count against */
  @Uuid({ default: NO_ORGANIZATION }) accountedTo!: string;
  @CreatedAt() createdAt!: Date;
}

/**
 * One rule that is desired, observed present, in doubt or due. It is deleted when it is observed absent, has no holder
 * and no write in flight.
 */
@Entity('rules')
@Unique('rules_target_id_key_key', ['targetId', 'key'])
@Index('rules_due_idx', ['dueAt'], { where: 'due_at IS NOT NULL' })
@Index('rules_target_due_idx', ['targetId', 'dueAt'], { where: 'due_at IS NOT NULL' })
@Index('rules_work_idx', { synchronize: false })
@Index('rules_unwanted_idx', ['overdueAt', 'unwantedSince'], { where: 'unwanted_since IS NOT NULL' })
@Index('rules_native_end_idx', ['nativeEndAt'], { where: 'native_end_at IS NOT NULL' })
@Index('rules_over_idx', ['id'], { where: `state = 'absent' AND due_at IS NULL` })
@Check('rules_state_check', `state IN ('absent', 'unknown', 'present')`)
export class RuleEntity {
  /** shows that this database has issued it */
  @PrimaryColumn('uuid', { default: () => 'issue_rule_id()' }) id!: string;
  @ForeignId(() => TargetEntity, 'rules_target_id_fkey') targetId!: string;
  @Text() key!: string;
  /** canonical CIDR */
  @Text() address!: string;
  @Text() protocol!: string;
  @Text() ports!: string;
  @Text({ default: 'absent' }) state!: RuleState;
  /** present in the cloud without our ownership mark: never removed */
  @Flag({ default: false }) isUnmanaged!: boolean;
  @Text({ nullable: true }) providerRuleId!: string | null;
  /** the credential and region it was written with, for its removal when no holder is left */
  @Uuid({ nullable: true }) credentialId!: string | null;
  @Text({ nullable: true }) region!: string | null;
  /** when its next pass is due; null: settled */
  @Moment({ nullable: true }) dueAt!: Date | null;
  /** a holder was released: it takes precedence over rules that wait to be opened */
  @Flag({ default: false }) closing!: boolean;
  /** incremented with every change of its holders, so that a worker never settles a rule that changed meanwhile */
  @Count({ default: 0 }) revision!: number;
  /** the last revision sent to its agent; null: never sent */
  @Count({ nullable: true }) offeredRevision!: number | null;
  @Count({ default: 0 }) attempts!: number;
  /** until then a call with an unknown outcome may still take effect */
  @Moment({ nullable: true }) inFlightUntil!: Date | null;
  @Text({ nullable: true }) lastError!: string | null;
  /** how often another program removed it within the hour after `lostAt` */
  @Count({ default: 0 }) lostCount!: number;
  @Moment({ nullable: true }) lostAt!: Date | null;
  /** since when the cloud reports that its target does not exist */
  @Moment({ nullable: true }) targetMissingSince!: Date | null;
  /** why and since when it has to be removed; null while it is desired */
  @Text({ nullable: true }) cause!: RemovalCause | null;
  @Moment({ nullable: true }) unwantedSince!: Date | null;
  /** when it was reported as overdue */
  @Moment({ nullable: true }) overdueAt!: Date | null;
  /** start of possible and of certain access; null: none */
  @Moment({ nullable: true }) possibleSince!: Date | null;
  @Moment({ nullable: true }) presentSince!: Date | null;
  /** when a pass last observed it present; complete comparisons record that in the target's comparedAt */
  @Moment({ nullable: true }) observedAt!: Date | null;
  /** when the first removal was sent, or it was first not observed: from then on its presence is not certain */
  @Moment({ nullable: true }) removalSentAt!: Date | null;
  /** it was present and disappeared: when present again it counts as restored */
  @Flag({ default: false }) isMissing!: boolean;
  /** another program removes it repeatedly: it is not restored before `dueAt` */
  @Flag({ default: false }) isSuspended!: boolean;
  /** expiry sent to its agent, enforced by the host's kernel; infinity: none */
  @Moment({ nullable: true }) offeredUntil!: Date | null;
  /** when its provider ends it by itself, as last observed; null: never */
  @Moment({ nullable: true }) nativeEndAt!: Date | null;
  /** the organization whose fair share it counts against: the one whose holder last made it due */
  @Uuid({ default: NO_ORGANIZATION }) accountedTo!: string;
  @CreatedAt() createdAt!: Date;
}

/** A rule that this deployment did not create, observed by the last comparison. Never modified. */
@Entity('unmanaged_rules')
export class UnmanagedRuleEntity {
  @ForeignKey(() => TargetEntity, { name: 'unmanaged_rules_target_id_fkey', onDelete: 'CASCADE' })
  @PrimaryColumn('uuid')
  targetId!: string;
  @PrimaryColumn('text') key!: string;
  @PrimaryColumn('text') providerRuleId!: string;
  /** time of the previous comparison; null: it was observed by the first one */
  @Moment({ nullable: true }) possibleSince!: Date | null;
  @Moment() presentSince!: Date;
}

/** The lease of the sweeping worker. */
@Entity('sweeper_lease')
@Check('sweeper_lease_one_row', 'id = 1')
export class SweeperLeaseEntity {
  @PrimaryColumn('integer') id!: number;
  @Text() workerId!: string;
  @Moment() leaseUntil!: Date;
  /** when a standby worker was last seen */
  @Moment({ nullable: true }) othersSeenAt!: Date | null;
  /** end of the last successful sweep of any worker; null: none is known */
  @Moment({ nullable: true }) sweptAt!: Date | null;
  /** of the database that services last ran on: a copy has another one; null: none has */
  @Text({ nullable: true }) databaseIdentity!: string | null;
  /** when it was noticed that a backup was restored; null: it was not, or an operator has confirmed since */
  @Moment({ nullable: true }) restoredAt!: Date | null;
}

/** The id in the marks of this installation's rules. */
@Entity('deployment')
@Check('deployment_one_row', 'id = 1')
export class DeploymentEntity {
  @PrimaryColumn('integer') id!: number;
  @Text() deploymentId!: string;
  /** services have started with it, and may have marked rules */
  @Flag({ default: false }) isUsed!: boolean;
  /** the ids of rules are derived from it */
  @Text() ruleIdSeed!: string;
}

/** Written by readiness checks. */
@Entity('write_probe')
@Check('write_probe_one_row', 'id = 1')
export class WriteProbeEntity {
  @PrimaryColumn('integer') id!: number;
  @Moment() writtenAt!: Date;
}

/**
 * Write budget of one cloud account, shared by all workers: when its bucket of calls is full again, and until when those
 * that found it empty are expected, one after the other.
 */
@Entity('write_budgets')
export class WriteBudgetEntity {
  @PrimaryColumn('text') accountKey!: string;
  @Moment() fullAt!: Date;
  @Moment({ nullable: true }) additionsUntil!: Date | null;
  @Moment({ nullable: true }) removalsUntil!: Date | null;
  @Moment({ nullable: true }) verificationsUntil!: Date | null;
}
