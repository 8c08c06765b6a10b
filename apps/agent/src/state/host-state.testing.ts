import type { DesiredRule, HostState } from './host-state';

/** A rule of the server for tests: TCP port 22 for one address, without an end. */
export const desiredRule = (id: string, given: Partial<DesiredRule> = {}): DesiredRule => ({
  id,
  cidr: '10.0.0.1/32',
  protocol: 'tcp',
  ports: [22],
  deadline: Infinity,
  maxSilenceMs: Infinity,
  holders: [],
  unconfirmed: false,
  ...given,
});

/** A state of the server for tests: it guards nothing. */
export const hostState = (given: Partial<HostState> = {}): HostState => ({
  version: '1',
  guarded: [],
  confirmed: [],
  proposed: [],
  released: [],
  rules: [],
  restored: false,
  unreadable: [],
  ...given,
});
