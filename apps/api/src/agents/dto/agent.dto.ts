import { ApiProperty } from '@nestjs/swagger';
import { AGENT_LIST, AGENT_STATES, type AgentRow } from '#engine-store';
import { TIME } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';

export class AgentQueryDto extends listQueryOf(AGENT_LIST) {}

export class AgentDto implements AgentRow {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'db-host-1' }) name!: string;
  @ApiProperty({
    enum: AGENT_STATES,
    description: 'AWAY: not heard from lately; CONTESTED: another installation asks under the same name',
  })
  state!: AgentRow['state'];
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.20' }) address!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'drawbridge-agent/0.1.0' }) software!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Of its API key; null: that was deleted' })
  keyName!: string | null;
  @ApiProperty(TIME) seenAt!: Date;
  @ApiProperty(TIME) createdAt!: Date;
}
