import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsInt, Max, Min } from 'class-validator';
import { PROTOCOLS, type Protocol, type Traffic } from '#rules';
import { checkedBy } from './checked-by';

const MAX_PORTS = 1000;
const PORTS_MESSAGE = 'must hold ports from 1 to 65535';
const HAVE_PORTS: readonly unknown[] = ['tcp', 'udp'] satisfies Protocol[];

/** Property decorator: the ports of a protocol that has none are an empty list. */
const PortsFitProtocol = (): PropertyDecorator =>
  checkedBy('portsFitProtocol', (ports, { protocol }: Partial<Traffic>) =>
    !Array.isArray(ports) || ports.length === 0 || HAVE_PORTS.includes(protocol)
      ? null
      : 'must be empty for icmp and all',
  );

@ApiSchema({ description: 'A protocol and its ports.' })
export class TrafficDto implements Traffic {
  @ApiProperty({ enum: PROTOCOLS })
  @IsIn(PROTOCOLS, { message: `must be one of ${PROTOCOLS.join(', ')}` })
  protocol!: Protocol;

  @ApiProperty({
    type: [Number],
    maxItems: MAX_PORTS,
    example: [22],
    description: 'Empty: every port of the protocol',
  })
  @PortsFitProtocol()
  @ArrayMaxSize(MAX_PORTS, { message: `must hold at most ${MAX_PORTS} ports` })
  @Min(1, { each: true, message: PORTS_MESSAGE })
  @Max(65535, { each: true, message: PORTS_MESSAGE })
  @IsInt({ each: true, message: PORTS_MESSAGE })
  @IsArray({ message: 'must be an array of ports' })
  ports!: readonly number[];
}
