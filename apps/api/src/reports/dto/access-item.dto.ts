import { ApiProperty } from '@nestjs/swagger';
import { HOLDER_KINDS, RULE_CAUSES, type HolderKind, type Provider, type RuleCause } from '#rules';
import { ID_OR_NULL, TEXT_OR_NULL } from '../../http/nullable';
import { PROVIDER_NAME } from '../../http/provider-name';

const TIME = { type: String, nullable: true, format: 'date-time' } as const;

export class AccessResourceDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'demo-database', description: 'for past access, the name at that time' })
  name!: string;
}

export class AccessTargetDto {
  @ApiProperty(PROVIDER_NAME) provider!: Provider;
  @ApiProperty({ example: 'sg-0123456789abcdef0' }) identifier!: string;
}

export class AccessItemDto {
  @ApiProperty({ type: AccessResourceDto }) resource!: AccessResourceDto;
  @ApiProperty({ type: AccessTargetDto }) target!: AccessTargetDto;
  @ApiProperty({ example: '203.0.113.10/32' }) address!: string;
  @ApiProperty({ example: 'tcp' }) protocol!: string;
  @ApiProperty({ example: '5432', description: '* for every port' }) ports!: string;
  @ApiProperty({
    enum: HOLDER_KINDS,
    enumName: 'HolderKind',
    example: 'SESSION',
    description:
      'ORPHAN: a rule of this service without a holder. UNMANAGED: a rule that this service did not create. OTHER: a ' +
      'rule for another organization on the same target',
  })
  holderKind!: HolderKind;
  @ApiProperty({ ...ID_OR_NULL, description: 'id of the session or the static IP rule' })
  holderId!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'ada@example.com' }) userEmail!: string | null;
  @ApiProperty({
    enum: RULE_CAUSES,
    enumName: 'RuleCause',
    nullable: true,
    example: 'SESSION_EXPIRED',
    description: 'why the access ended or will end; while no end is due, why it was added',
  })
  cause!: RuleCause | null;
  @ApiProperty({
    ...TIME,
    example: '2026-01-31T09:30:01.250Z',
    description: 'the first observation; null when it was never observed',
  })
  certainFrom!: Date | null;
  @ApiProperty({
    ...TIME,
    example: '2026-01-31T11:29:58.700Z',
    description: 'the last observation; null when it was never observed',
  })
  certainUntil!: Date | null;
  @ApiProperty({
    ...TIME,
    example: '2026-01-31T09:30:00.400Z',
    description: 'the last observation without it; null when there was none',
  })
  possibleFrom!: Date | null;
  @ApiProperty({
    ...TIME,
    example: '2026-01-31T11:30:01.100Z',
    description:
      'the first observation of its absence, and as much later as the provider may take to act on that; null while there is none',
  })
  possibleUntil!: Date | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'INC-12: the disk is full',
    description: 'why the session was started; null once the session is deleted',
  })
  reason!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'INC-12' }) ticket!: string | null;
  @ApiProperty({ type: [String], example: ['bo@example.com'], description: 'who approved the session' })
  approvers!: readonly string[];
  @ApiProperty({ description: 'whether it was started without the approval that it needed' })
  breakGlass!: boolean;
}
