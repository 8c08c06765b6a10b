import type { AgentRule, AgentState, ReleasedAgent } from '#engine-store';
import type { PortRange } from '#rules';
import type { AgentRuleDto, AgentStateDto } from './dto/agent-state.dto';
import type { ReleasedAgentDto } from './dto/released-agent.dto';

export const toAgentState = ({ version, serverTime, guarded, rules }: AgentState): AgentStateDto => ({
  version,
  serverTime: serverTime.toISOString(),
  guarded: guarded.map(({ protocol, ports }) => ({ protocol, ports: portNumbers(ports) })),
  rules: rules.map(toAgentRule),
});

const toAgentRule = ({
  id,
  address,
  protocol,
  ports,
  secondsLeft,
  unconfirmed,
}: AgentRule): AgentRuleDto => ({
  id,
  ipAddress: address.replace(/\/(32|128)$/, (length) => (isWhole(address, length) ? '' : length)),
  protocol,
  ports: portNumbers(ports),
  // rounded up to the millisecond, so that the agent never removes it too early
  secondsLeft: secondsLeft === null ? null : Math.ceil(secondsLeft * 1000) / 1000,
  unconfirmed,
});

/** A /32 is a single address in IPv4 only. */
const isWhole = (address: string, length: string): boolean =>
  length === (address.includes(':') ? '/128' : '/32');

const portNumbers = (ports: readonly PortRange[]): number[] => ports.map(({ from }) => from);

export const toReleasedAgent = ({ name, releasedUntil }: ReleasedAgent): ReleasedAgentDto => ({
  name,
  releasedUntil: releasedUntil.toISOString(),
});
