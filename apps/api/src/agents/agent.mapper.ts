import type { AgentState, ReleasedAgent } from '#engine-store';
import type { AgentStateDto } from './dto/agent-state.dto';
import type { ReleasedAgentDto } from './dto/released-agent.dto';

export const toAgentState = ({ serverTime, ...state }: AgentState): AgentStateDto => ({
  ...state,
  serverTime: serverTime.toISOString(),
});

export const toReleasedAgent = ({ name, releasedUntil }: ReleasedAgent): ReleasedAgentDto => ({
  name,
  releasedUntil: releasedUntil.toISOString(),
});
