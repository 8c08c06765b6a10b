import { readState, withoutAdditions } from './host-state';
import { desiredRule, hostState } from './host-state.testing';

const rule = {
  id: 'r',
  ipAddress: '203.0.113.7',
  protocol: 'tcp',
  ports: [22],
  secondsLeft: 60.5,
  unconfirmed: true,
};
const LISTS = { guarded: [{ protocol: 'tcp', ports: [22] }], confirmed: [], proposed: [], released: [] };
const state = (...rules: object[]): object => ({ version: '1-a', ...LISTS, rules });

describe('A received state', () => {
  it('has its deadlines in running time of the machine', () => {
    const read = readState(state(rule, { ...rule, secondsLeft: null }), 1000);
    expect(read.rules.map(({ deadline }) => deadline)).toEqual([61_500, Infinity]);
    expect(read.rules[0]).toMatchObject({
      cidr: '203.0.113.7/32',
      protocol: 'tcp',
      ports: [22],
      unconfirmed: true,
    });
  });

  it.each([
    [{ ipAddress: 'example.com' }],
    [{ ipAddress: '10.0.0.1; flush ruleset' }],
    [{ ipAddress: '10.0.0.0/33' }],
    [{ protocol: 'sctp' }],
    [{ ports: [0] }],
    [{ ports: ['22 } drop'] }],
    [{ ports: [22.5] }],
    [{ protocol: 'icmp', ports: [8] }],
    [{ secondsLeft: 'soon' }],
    [{ secondsLeft: undefined }],
  ])('a rule with %j is unreadable, the other rules are read', (wrong) => {
    const read = readState(state({ ...rule, ...wrong, id: 'wrong' }, rule), 0);
    expect(read.unreadable).toEqual(['wrong']);
    expect(read.rules.map(({ id }) => id)).toEqual(['r']);
  });

  it.each([[null], [[]], [{ status: 'ok' }], [{ ...state(), version: 1 }], [{ ...state(), released: null }]])(
    '%j is refused',
    (body) => {
      expect(() => readState(body, 0)).toThrow('does the address lead to Drawbridge');
    },
  );

  it('a state with unreadable guarded traffic is refused as a whole', () => {
    const unknown = { ...state(), guarded: [{ protocol: 'sctp', ports: [] }] };
    expect(() => readState(unknown, 0)).toThrow('upgrade it');
  });

  it('of a restored database opens nothing that the host does not have', () => {
    const given = hostState({ rules: [desiredRule('kept'), desiredRule('ended')], restored: true });
    const { state: applied, heldBack } = withoutAdditions(given, [
      desiredRule('kept'),
      desiredRule('unknown'),
    ]);
    expect(applied.rules.map(({ id }) => id)).toEqual(['kept']);
    expect(heldBack).toEqual(['ended']);
    expect(withoutAdditions({ ...given, restored: false }, []).heldBack).toEqual([]);
  });
});
