import { ApiSchema } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, Length, Matches } from 'class-validator';
import { PROTOCOLS, type HostConnection, type HostGuard, type Protocol, type RefusedTraffic } from '#rules';
import { checkedBy } from './checked-by';
import { integerIn, listOf, oneOf, Optional, Required, string, type Kind } from './fields';
import { isHost } from './list-query.dto';
import { TrafficDto } from './traffic.dto';

const MAX_REASON_LENGTH = 300;
const MAX_CHAINS = 20;

const ADDRESS: Kind = {
  checks: [
    checkedBy('isAddress', (value) =>
      isHost(value) ? null : 'must be an IPv4 or IPv6 address without a zone',
    ),
  ],
  doc: {},
};

const CHAINS: Kind = {
  checks: [
    IsArray({ message: 'must be an array of texts' }),
    ArrayMaxSize(MAX_CHAINS, { message: `must hold at most ${MAX_CHAINS} chains` }),
    Matches(/^[ -~]{1,200}$/, {
      each: true,
      message: 'must hold texts of 1 to 200 visible ASCII characters',
    }),
  ],
  doc: { type: [String], maxItems: MAX_CHAINS },
};

export class RefusedTrafficDto extends TrafficDto implements RefusedTraffic {
  @Required(
    string(Length(1, MAX_REASON_LENGTH, { message: `must have 1 to ${MAX_REASON_LENGTH} characters` })),
    { minLength: 1, maxLength: MAX_REASON_LENGTH, example: 'the host never guards port 22' },
  )
  reason!: string;
}

@ApiSchema({ description: 'An established connection from an address without access.' })
export class HostConnectionDto implements HostConnection {
  @Required(ADDRESS, { example: '198.51.100.7' })
  address!: string;

  @Required(oneOf(PROTOCOLS))
  protocol!: Protocol;

  @Required(integerIn(1, 65535, 'must be a port from 1 to 65535'), {
    example: 22,
    description: 'Of the host',
  })
  port!: number;
}

const TRAFFIC = listOf(TrafficDto, 8, 'traffic');

@ApiSchema({ description: 'What the host guards, as its agent sees it.' })
export class HostGuardDto implements HostGuard {
  @Required(TRAFFIC, { description: 'Closed except to the addresses of the rules' })
  guarded!: TrafficDto[];

  @Required(TRAFFIC, {
    description:
      'Newly named and not guarded yet: established connections from addresses without access use it, and the host waits ' +
      'for a confirmation',
  })
  waiting!: TrafficDto[];

  @Required(TRAFFIC, { description: 'The wait ended without a confirmation: it stays open' })
  leftAlone!: TrafficDto[];

  @Required(listOf(RefusedTrafficDto, 20, 'refused traffic'), {
    description: "Bounds in the host's own configuration forbid to guard it",
  })
  refused!: RefusedTrafficDto[];

  @Required(listOf(HostConnectionDto, 50, 'connections'), {
    description: 'From addresses without access, on proposed, waiting or left-alone ports',
  })
  connections!: HostConnectionDto[];

  @Optional(CHAINS, {
    example: ['inet filter input'],
    description:
      'nftables chains of other programs that may drop what the guard lets in: family, table and name',
  })
  otherChains?: string[];
}
