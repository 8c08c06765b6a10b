import type { AgentRule, AgentState, ReleasedAgent } from '#engine-store';
import type { AgentRuleDto, AgentStateDto } from './dto/agent-state.dto';
import type { ReleasedAgentDto } from './dto/released-agent.dto';

export const toAgentState = ({ serverTime, rules, ...state }: AgentState): AgentStateDto => ({
  ...state,
  serverTime: serverTime.toISOString(),
  rules: rules.map(toAgentRule),
});

const toAgentRule = ({
  id,
  address,
  protocol,
  ports,
  secondsLeft,
  unconfirmed,
  maxSilenceSeconds,
  holders,
}: AgentRule): AgentRuleDto => ({
  id,
  ipAddress: address.replace(/\/(32|128)$/, (length) => (isWhole(address, length) ? '' : length)),
  protocol,
  ports: ports.map(({ from }) => from),
  // rounded up to the millisecond, so that the agent never removes it too early
  secondsLeft: secondsLeft === null ? null : Math.ceil(secondsLeft * 1000) / 1000,
  unconfirmed,
  maxSilenceSeconds,
  holders,
});

/** A /32 is a single address in IPv4 only. */
const isWhole = (address: string, length: string): boolean =>
  length === (address.includes(':') ? '/128' : '/32');

export const toReleasedAgent = ({ name, releasedUntil }: ReleasedAgent): ReleasedAgentDto => ({
  name,
  releasedUntil: releasedUntil.toISOString(),
});
