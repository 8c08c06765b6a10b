import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TIME } from '../../http/fields';
import { ENDED_REASONS, REMOVAL_CAUSES, RESOURCE_IP_STATUSES, SESSION_STATUSES } from '#rules';
import type { EndedReason, RemovalCause, ResourceIpStatus, SessionStatus } from '#rules';

export class ResourceIpDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'demo-database' }) resourceName!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'db.example.com:5432',
    description: 'The host and port that people connect to, where the resource says so',
  })
  endpoint!: string | null;
  @ApiProperty({ enum: [4, 6] }) ipVersion!: number;
  @ApiProperty({ example: '203.0.113.10' }) ipAddress!: string;
  @ApiProperty({ enum: RESOURCE_IP_STATUSES }) status!: ResourceIpStatus;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'sgr-0123456789abcdef0',
    description: 'null until applied',
  })
  providerRuleId!: string | null;
  @ApiProperty({ nullable: true, ...TIME }) appliedAt!: Date | null;
  @ApiProperty({
    nullable: true,
    ...TIME,
    description:
      'By when the provider acts on the rule, which is on the target already; null: at once, or it is not there. Removals ' +
      'take as long',
  })
  effectiveBy!: Date | null;
  @ApiProperty({ nullable: true, ...TIME }) removedAt!: Date | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      "The provider's error message when FAILED; why it still waits when PENDING or REMOVING. An ended session's ResourceIp " +
      'is FAILED when its rule was given up: it was not observed to be gone',
  })
  errorMessage!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'sgr-0123456789abcdef0 (203.0.113.0/24 tcp 22)',
    description:
      'The rules of other programs that let the address in when it was REMOVED: their ids and what they allow. null: none ' +
      'was observed. Rules that Drawbridge keeps for others are not named',
  })
  stillAllowedBy!: string | null;
  @ApiProperty({
    type: [String],
    example: ['opens every TCP port'],
    description: 'What may not be intended; empty: nothing',
  })
  warnings!: readonly string[];
}

/** An address that a resource is not asked to hold again: its target holds the other IP version only. */
export class SkippedIpDto {
  @ApiProperty({ format: 'uuid' }) resourceId!: string;
  @ApiProperty({ example: 'ipv4-list' }) resourceName!: string;
  @ApiProperty({ enum: [4, 6] }) ipVersion!: number;
  @ApiProperty({ example: '2001:db8::10' }) ipAddress!: string;
  @ApiProperty({
    example: 'pl-0123456789abcdef0 is a list of IPv4 addresses: 2001:db8::10/128 cannot be in it',
    description: 'Why the resource cannot hold the address',
  })
  reason!: string;
}

export class SessionDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'uuid' }) userId!: string;
  @ApiProperty({ example: 'Demo Admin' }) userName!: string;
  @ApiProperty({ format: 'email', example: 'admin@example.com' }) userEmail!: string;
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.10' }) ipv4Address!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '2001:db8::10' }) ipv6Address!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'build-4711' }) holder!: string | null;
  @ApiProperty({ enum: SESSION_STATUSES, enumName: 'SessionStatus' }) status!: SessionStatus;
  @ApiProperty(TIME) startedAt!: Date;
  @ApiProperty(TIME) expiresAt!: Date;
  @ApiProperty({
    nullable: true,
    ...TIME,
    description: 'When it ends unless it is renewed; null: it has no lease',
  })
  leaseUntil!: Date | null;
  @ApiProperty({ nullable: true, ...TIME }) endedAt!: Date | null;
  @ApiProperty({ enum: ENDED_REASONS, nullable: true }) endedReason!: EndedReason | null;
  @ApiProperty({
    enum: REMOVAL_CAUSES,
    enumName: 'RemovalCause',
    nullable: true,
    example: 'LOCKED_DOWN',
    description:
      'What stopped it, as in its events. ROLE_LOST, REFUSED_BY_ISSUER, NOT_SIGNED_IN_AGAIN: the identity provider of the company sign-in. null: ' +
      'it is live, or its time is over',
  })
  endedCause!: RemovalCause | null;
  @ApiProperty({ type: [ResourceIpDto] }) resourceIps!: ResourceIpDto[];
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: null,
    description:
      'While PENDING: about how long its rules wait for the changes of their cloud accounts that are before them; 0: less ' +
      'than three seconds. null: not PENDING, just started, or not known',
  })
  opensInSeconds!: number | null;
  @ApiPropertyOptional({
    type: [SkippedIpDto],
    description:
      'Absent when there are none. Addresses left out on resources that hold the other IP version only, while another resource of the session holds them. They do not count for the status',
  })
  skippedIps?: SkippedIpDto[];
  @ApiProperty({ type: String, nullable: true, example: 'INC-12: the disk is full' }) reason!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'INC-12' }) ticket!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'The access request that it used; with breakGlass the one that is to be reviewed',
  })
  accessRequestId!: string | null;
  @ApiProperty({ type: [String], example: ['ada@example.com'], description: 'Who approved it' })
  approvers!: readonly string[];
  @ApiProperty({ description: 'Whether it was started without the approval that it needs' })
  breakGlass!: boolean;
  @ApiProperty(TIME) createdAt!: Date;
}

export class RenewedSessionDto extends SessionDto {
  @ApiProperty({
    type: String,
    nullable: true,
    example: '198.51.100.20',
    description:
      'The address that this renewal came from, when the session lets another one in: the caller has moved, and the address it ' +
      'left keeps the access. null: it has not',
  })
  renewedFrom!: string | null;
}

export class InactiveResourcesDto {
  @ApiProperty({ type: 'integer', example: 2 }) total!: number;
  @ApiProperty({ type: [String], example: ['db-eu', 'db-us'], description: 'Names; of many the first 20' })
  sample!: readonly string[];
}

export class StartedSessionDto extends SessionDto {
  @ApiPropertyOptional({
    type: InactiveResourcesDto,
    description:
      'Absent when there are none. A session that names no resources has all active ones of its user: these are left out, ' +
      'because they are not verified, or no longer',
  })
  inactiveResources?: InactiveResourcesDto;
  @ApiPropertyOptional({
    example: 'dbs_8Jb1qVbYx2c0YwR3mXq4oQmTtq0c7m3nUe5hLw9kZsA',
    description:
      'With leaseSeconds only. `Authorization: Session <token>` reads, renews and stops this session, and nothing else, until it ' +
      'has ended. It is not stored and in no other response; a repeated request with the same Idempotency-Key returns it again',
  })
  sessionToken?: string;
}
