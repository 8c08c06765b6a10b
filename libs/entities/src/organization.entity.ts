import type { Tier } from '#rules';
import { Check, Entity, Generated, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Id, Moment, Text, UpdatedAt, Uuid } from './columns';

@Entity('organizations')
@Unique('organizations_slug_key', ['slug'])
@Unique('organizations_external_id_key', ['externalId'])
@Check('organizations_tier_check', `subscription_tier IN ('FREE', 'PAID')`)
export class OrganizationEntity {
  @Id() id!: string;
  @Text() slug!: string;
  @Text() name!: string;
  @Text({ default: 'FREE' }) subscriptionTier!: Tier;
  /** shown to tenants, put into the trust policy of the AWS roles we assume for them; never settable */
  @Uuid() @Generated('uuid') externalId!: string;
  @Moment({ nullable: true }) suspendedAt!: Date | null;
  @CreatedAt() createdAt!: Date;
  @UpdatedAt() updatedAt!: Date;
}

/** An organization's data keys, each wrapped by a version of the master key. */
@Entity('data_keys')
export class DataKeyEntity {
  @PrimaryColumn('uuid') organizationId!: string;
  @PrimaryColumn('integer') version!: number;
  @Count() masterKeyVersion!: number;
  @Text() wrappedKey!: string;
  @CreatedAt() createdAt!: Date;
}
