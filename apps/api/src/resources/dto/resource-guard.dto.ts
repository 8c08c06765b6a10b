import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { HostConnectionDto, RefusedTrafficDto } from '../../http/host-guard.dto';
import { TrafficDto } from '../../http/traffic.dto';

@ApiSchema({
  description: "What the resource's host guards of the resource's own traffic, by the agent's last report.",
})
export class ResourceGuardDto {
  @ApiProperty({ example: 'db-host-1', description: 'The name of the agent' }) agent!: string;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-01-31T09:30:00.000Z',
    description: 'The last report that differed from the one before; null: the agent has reported no guard',
  })
  reportedAt!: Date | null;
  @ApiProperty({ type: [TrafficDto] }) guarded!: readonly TrafficDto[];
  @ApiProperty({
    type: [TrafficDto],
    description: 'Named by the resource and not guarded; empty when no guard was reported',
  })
  notGuarded!: readonly TrafficDto[];
  @ApiProperty({
    type: [TrafficDto],
    description: 'The host waits for a confirmation to cut established connections',
  })
  waiting!: readonly TrafficDto[];
  @ApiProperty({ type: [TrafficDto], description: 'The wait ended without a confirmation: it stays open' })
  leftAlone!: readonly TrafficDto[];
  @ApiProperty({ type: [RefusedTrafficDto], description: "The host's own configuration forbids to guard it" })
  refused!: readonly RefusedTrafficDto[];
  @ApiProperty({
    type: [HostConnectionDto],
    description: 'Established connections from addresses without access, which a guard would cut; at most 50',
  })
  wouldCut!: readonly HostConnectionDto[];
}
