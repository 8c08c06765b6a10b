import { AGENT_AWAY_SECONDS, agentAbsence } from './agent';

describe('agentAbsence', () => {
  const messageOf = (secondsAway: number | null): string | undefined =>
    agentAbsence('db-host-1', secondsAway)?.message;

  it('is null for an agent seen within AGENT_AWAY_SECONDS', () => {
    expect(agentAbsence('db-host-1', 0)).toBeNull();
    expect(agentAbsence('db-host-1', AGENT_AWAY_SECONDS - 1)).toBeNull();
    expect(agentAbsence('db-host-1', AGENT_AWAY_SECONDS)).toMatchObject({ kind: 'denied' });
  });

  it('distinguishes an agent that never connected from one that is away', () => {
    expect(agentAbsence('db-host-1', null)).toEqual({
      kind: 'target-missing',
      message: 'No agent has connected under the name db-host-1 yet',
    });
  });

  it.each([
    [119.9, '119 seconds'],
    [120, '2 minutes'],
    [7199, '119 minutes'],
    [7200, '2 hours'],
  ])('formats %p seconds', (secondsAway, span) => {
    expect(messageOf(secondsAway)).toContain(`The agent db-host-1 has not been heard of for ${span}:`);
  });
});
