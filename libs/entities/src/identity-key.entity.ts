import { Entity, PrimaryColumn, Unique } from 'typeorm';
import { Count, CreatedAt, Json, Moment, Text } from './columns';

/** A key that signs tokens about credentials, for clouds that trust this deployment. The private half is sealed. */
@Entity('identity_keys')
@Unique('identity_keys_generation_key', ['generation'])
export class IdentityKeyEntity {
  /** its thumbprint (RFC 7638) */
  @PrimaryColumn('text') kid!: string;
  /** from 1: two rotations at once cannot both add one */
  @Count() generation!: number;
  /** as published (RFC 7517) */
  @Json() publicKey!: Record<string, string>;
  @Count() masterKeyVersion!: number;
  @Text() sealedKey!: string;
  /** published before, so that every cache has it then */
  @Moment() signsFrom!: Date;
  @CreatedAt() createdAt!: Date;
}
