import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import {
  parseHost,
  PROTOCOLS,
  type HostConnection,
  type HostGuard,
  type Protocol,
  type RefusedTraffic,
} from '#rules';
import { TrafficDto } from './traffic.dto';

const MAX_TRAFFIC = 8;
const MAX_REFUSED = 20;
const MAX_REASON_LENGTH = 300;
const MAX_CONNECTIONS = 50;
const MAX_CHAINS = 20;
const PORT_MESSAGE = 'must be a port from 1 to 65535';

export class RefusedTrafficDto extends TrafficDto implements RefusedTraffic {
  @ApiProperty({ minLength: 1, maxLength: MAX_REASON_LENGTH, example: 'the host never guards port 22' })
  @Length(1, MAX_REASON_LENGTH, { message: `must have 1 to ${MAX_REASON_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  reason!: string;
}

@ApiSchema({ description: 'An established connection from an address without access.' })
export class HostConnectionDto implements HostConnection {
  @ApiProperty({ example: '198.51.100.7' })
  @ValidateBy({
    name: 'isAddress',
    validator: {
      validate: (value) => typeof value === 'string' && parseHost(value) !== null,
      defaultMessage: () => 'must be an IPv4 or IPv6 address without a zone',
    },
  })
  address!: string;

  @ApiProperty({ enum: PROTOCOLS })
  @IsIn(PROTOCOLS, { message: `must be one of ${PROTOCOLS.join(', ')}` })
  protocol!: Protocol;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 65535, example: 22, description: 'Of the host' })
  @Min(1, { message: PORT_MESSAGE })
  @Max(65535, { message: PORT_MESSAGE })
  @IsInt({ message: PORT_MESSAGE })
  port!: number;
}

/** Property decorators: a list of traffic. */
const TrafficList =
  (description: string): PropertyDecorator =>
  (target, property) => {
    const decorators = [
      IsArray({ message: 'must be an array of traffic' }),
      ArrayMaxSize(MAX_TRAFFIC, { message: `must hold at most ${MAX_TRAFFIC} entries` }),
      Type(() => TrafficDto),
      ValidateNested({ each: true, message: 'must hold traffic' }),
      ApiProperty({ type: [TrafficDto], maxItems: MAX_TRAFFIC, description }),
    ];
    for (const decorate of decorators) decorate(target, property);
  };

@ApiSchema({ description: 'What the host guards, as its agent sees it.' })
export class HostGuardDto implements HostGuard {
  @TrafficList('Closed except to the addresses of the rules')
  guarded!: TrafficDto[];

  @TrafficList(
    'Newly named and not guarded yet: established connections from addresses without access use it, and the host waits ' +
      'for a confirmation',
  )
  waiting!: TrafficDto[];

  @TrafficList('The wait ended without a confirmation: it stays open')
  leftAlone!: TrafficDto[];

  @ApiProperty({
    type: [RefusedTrafficDto],
    maxItems: MAX_REFUSED,
    description: "Bounds in the host's own configuration forbid to guard it",
  })
  @ValidateNested({ each: true, message: 'must hold refused traffic' })
  @Type(() => RefusedTrafficDto)
  @ArrayMaxSize(MAX_REFUSED, { message: `must hold at most ${MAX_REFUSED} entries` })
  @IsArray({ message: 'must be an array of refused traffic' })
  refused!: RefusedTrafficDto[];

  @ApiProperty({
    type: [HostConnectionDto],
    maxItems: MAX_CONNECTIONS,
    description: 'From addresses without access, on proposed, waiting or left-alone ports',
  })
  @ValidateNested({ each: true, message: 'must hold connections' })
  @Type(() => HostConnectionDto)
  @ArrayMaxSize(MAX_CONNECTIONS, { message: `must hold at most ${MAX_CONNECTIONS} connections` })
  @IsArray({ message: 'must be an array of connections' })
  connections!: HostConnectionDto[];

  @ApiPropertyOptional({
    type: [String],
    maxItems: MAX_CHAINS,
    example: ['inet filter input'],
    description:
      'nftables chains of other programs that may drop what the guard lets in: family, table and name',
  })
  @IsOptional()
  @Matches(/^[ -~]{1,200}$/, { each: true, message: 'must hold texts of 1 to 200 visible ASCII characters' })
  @ArrayMaxSize(MAX_CHAINS, { message: `must hold at most ${MAX_CHAINS} chains` })
  @IsArray({ message: 'must be an array of texts' })
  otherChains?: string[];
}
