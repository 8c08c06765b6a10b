import { previewOf, type HostView } from './dry-run';
import { NO_LIMITS } from './guarding/limits';
import { desiredRule, hostState } from './state/host-state.testing';

const view = (given: Partial<HostView> = {}): HostView => ({
  limits: NO_LIMITS,
  guard: [],
  connections: [],
  sshConnection: undefined,
  now: 1000,
  ...given,
});
const GUARDING_SSH = hostState({ guarded: [{ protocol: 'tcp', ports: [22] }] });
const SSH = '10.0.0.1 50000 10.0.0.9 22';

describe('A dry run', () => {
  it.each([
    ['a session', hostState({ ...GUARDING_SSH, rules: [desiredRule('ann')] }), NO_LIMITS],
    ['--always-allow', GUARDING_SSH, { ...NO_LIMITS, alwaysAllow: ['10.0.0.0/8'] }],
    ['--never', GUARDING_SSH, { ...NO_LIMITS, never: [{ protocol: 'tcp', ports: [22] }] as const }],
  ])('does not warn a caller who keeps the connection by %s', (_, state, limits) => {
    const { warnings } = previewOf(state, 'db', view({ sshConnection: SSH, limits }));
    expect(warnings.filter((line) => line.includes('10.0.0.1'))).toEqual([]);
  });

  it('names the connections of others, once', () => {
    const connections = [
      { address: '10.0.0.1', port: 22 },
      { address: '192.0.2.9', port: 22 },
    ];
    const { warnings } = previewOf(GUARDING_SSH, 'db', view({ sshConnection: SSH, connections }));
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toContain('cut: 192.0.2.9 to tcp 22. The agent leaves');
  });

  it('shows what a resource that is not verified yet would guard', () => {
    const state = hostState({ proposed: [{ protocol: 'udp', ports: [53] }] });
    const { elements, warnings } = previewOf(state, 'db', view());
    expect([...elements.keys()]).toEqual(['guarded_ports 17 . 53']);
    expect(warnings).toEqual(['Guarded once the resource is verified: udp 53']);
  });
});
