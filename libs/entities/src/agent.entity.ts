import { Entity, ForeignKey, Unique } from 'typeorm';
import { CreatedAt, Flag, Id, Moment, Text, Uuid } from './columns';
import { OrganizationEntity } from './organization.entity';
import { ApiKeyEntity } from './user.entity';

/** Who connects under one name of an organization's, to keep a host's firewall. */
@Entity('agents')
@Unique('agents_organization_id_name_key', ['organizationId', 'name'])
@Unique('agents_target_key_key', ['targetKey'])
export class AgentEntity {
  @Id() id!: string;
  @ForeignKey(() => OrganizationEntity, { name: 'agents_organization_id_fkey' })
  @Uuid()
  organizationId!: string;
  /** in lower case: host names are the same in any */
  @Text() name!: string;
  /** `targets.key` of the host, which is there once a resource names it */
  @Text() targetKey!: string;
  /** the API key that the name is served with; null: not known, or no request since the release before */
  @ForeignKey(() => ApiKeyEntity, { name: 'agents_key_id_fkey', onDelete: 'SET NULL' })
  @Uuid({ nullable: true })
  keyId!: string | null;
  /** until then an administrator lets another key or installation take the name over */
  @Moment({ nullable: true }) releasedUntil!: Date | null;
  /** which installation serves under the name */
  @Text() instance!: string;
  @Text({ nullable: true }) address!: string | null;
  /** name and release of the program, as it gave them */
  @Text({ nullable: true }) software!: string | null;
  @Moment() seenAt!: Date;
  /** that it is away was told */
  @Flag({ default: false }) toldAway!: boolean;
  /** the version of the state it was told last: its reports are about that one */
  @Text({ nullable: true }) servedVersion!: string | null;
  /** another installation that asked under the same name while this one served */
  @Text({ nullable: true }) rivalInstance!: string | null;
  @Text({ nullable: true }) rivalAddress!: string | null;
  @Moment({ nullable: true }) rivalSeenAt!: Date | null;
  /** when the two were told of last */
  @Moment({ nullable: true }) rivalToldAt!: Date | null;
  @CreatedAt() createdAt!: Date;
}
