import { ApiProperty } from '@nestjs/swagger';
import { AGENT_LIST, AGENT_STATES, type AgentRow } from '#engine-store';
import { TIME } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL } from '../../http/nullable';

export class AgentQueryDto extends listQueryOf(AGENT_LIST) {}

export class AgentDto implements AgentRow {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ example: 'db-host-1' }) name!: string;
  @ApiProperty({
    enum: AGENT_STATES,
    description: 'AWAY: not heard from lately; CONTESTED: another installation asks under the same name',
  })
  state!: AgentRow['state'];
  @ApiProperty({ ...TEXT_OR_NULL, example: '203.0.113.20' }) address!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'drawbridge-agent/0.1.0' }) software!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, description: 'Of its API key; null: that was deleted' })
  keyName!: string | null;
  @ApiProperty(TIME) seenAt!: Date;
  @ApiProperty(TIME) createdAt!: Date;
}
