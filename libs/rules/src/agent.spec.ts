import { AGENT_AWAY_SECONDS, agentAbsence } from './agent';

describe('agentAbsence', () => {
  const words = (secondsAway: number | null): string | undefined =>
    agentAbsence('db-host-1', secondsAway)?.message;

  it('has nothing against an agent that was heard of within the minute', () => {
    expect(agentAbsence('db-host-1', 0)).toBeNull();
    expect(agentAbsence('db-host-1', AGENT_AWAY_SECONDS - 1)).toBeNull();
    expect(agentAbsence('db-host-1', AGENT_AWAY_SECONDS)).toMatchObject({ kind: 'denied' });
  });

  it('tells one that never came from one that went', () => {
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
  ])('says how long %p seconds are', (secondsAway, span) => {
    expect(words(secondsAway)).toContain(`The agent db-host-1 has not been heard of for ${span}:`);
  });
});
