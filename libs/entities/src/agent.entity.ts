import type { HostGuard, Traffic } from '#rules';
import { Entity, Unique } from 'typeorm';
import { CreatedAt, Flag, ForeignId, Id, Json, Moment, Text } from './columns';
import { OrganizationEntity } from './organization.entity';
import { ApiKeyEntity } from './user.entity';

/** An agent that manages one host's firewall, by the host's name in the organization. */
@Entity('agents')
@Unique('agents_organization_id_name_key', ['organizationId', 'name'])
@Unique('agents_target_key_key', ['targetKey'])
export class AgentEntity {
  @Id() id!: string;
  @ForeignId(() => OrganizationEntity, 'agents_organization_id_fkey') organizationId!: string;
  /** in lower case: host names are case-insensitive */
  @Text() name!: string;
  /** `targets.key` of the host; the target exists once a resource points at it */
  @Text() targetKey!: string;
  /** the API key the agent uses; null: it was deleted */
  @ForeignId(() => ApiKeyEntity, 'agents_key_id_fkey', { onDelete: 'SET NULL', nullable: true })
  keyId!: string | null;
  /** until then another key or installation may take over the name, as allowed by an administrator */
  @Moment({ nullable: true }) releasedUntil!: Date | null;
  /** the installation that serves the name */
  @Text() instance!: string;
  @Text({ nullable: true }) address!: string | null;
  /** name and release of the program, as reported by it */
  @Text({ nullable: true }) software!: string | null;
  @Moment() seenAt!: Date;
  /** its absence has been reported */
  @Flag({ default: false }) toldAway!: boolean;
  /** the last state version sent to it: its reports refer to that version */
  @Text({ nullable: true }) servedVersion!: string | null;
  /** another installation that connected under the same name meanwhile */
  @Text({ nullable: true }) rivalInstance!: string | null;
  @Text({ nullable: true }) rivalAddress!: string | null;
  @Moment({ nullable: true }) rivalSeenAt!: Date | null;
  /** when the conflict was last reported */
  @Moment({ nullable: true }) rivalToldAt!: Date | null;
  /** what the host guards by the serving installation's last report that differed; null: it has not reported it */
  @Json({ nullable: true }) guard!: HostGuard | null;
  @Moment({ nullable: true }) guardReportedAt!: Date | null;
  /** traffic that the host is to release from its guard, until the agent reports a guard without it */
  @Json({ default: [] }) pendingRelease!: Traffic[];
  @CreatedAt() createdAt!: Date;
}
