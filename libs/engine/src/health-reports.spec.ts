import type { NamingResource } from '#engine-store';
import { asOrganizationId } from '#rules';
import { healthReports } from './health-reports';

const resource = (lastOutcome: NamingResource['lastOutcome'], id = 'resource'): NamingResource => ({
  id,
  organizationId: asOrganizationId('organization'),
  name: 'bastion',
  lastOutcome,
});
const NEVER = resource(null);
const IN_ORDER = resource({ eventType: 'RECONCILE_OK', message: null });
const failed = (message: string): NamingResource => resource({ eventType: 'RECONCILE_FAILED', message });
const report = (eventType: string, message: string | null, of: NamingResource) => ({
  resources: [of],
  eventType,
  message,
  needsPeople: false,
});

describe('healthReports', () => {
  it.each([
    ['without an earlier outcome', NEVER],
    ['without an earlier problem', IN_ORDER],
    ['with another earlier problem', failed('2 missing')],
  ])('reports a problem of a resource %s', (_, before) => {
    expect(healthReports([before], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', before),
    ]);
  });

  it('repeats an unchanged problem only on request', () => {
    expect(healthReports([failed('1 missing')], '1 missing', false)).toEqual([]);
    expect(healthReports([failed('1 missing')], '1 missing', true)).toEqual([
      report('RECONCILE_FAILED', '1 missing', failed('1 missing')),
    ]);
  });

  it('reports that a problem is resolved', () => {
    expect(healthReports([failed('1 missing')], null, false)).toEqual([
      report('RECONCILE_OK', 'In order again: 1 missing', failed('1 missing')),
    ]);
  });

  it('reports a resource without problems once, and again on request', () => {
    expect(healthReports([NEVER], null, false)).toEqual([report('RECONCILE_OK', null, NEVER)]);
    expect(healthReports([IN_ORDER], null, false)).toEqual([]);
    expect(healthReports([IN_ORDER], null, true)).toEqual([report('RECONCILE_OK', null, IN_ORDER)]);
  });

  it('reports a problem that recurs after it was resolved', () => {
    const back = resource({ eventType: 'RECONCILE_OK', message: 'In order again: 1 missing' });
    expect(healthReports([back], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', back),
    ]);
    expect(healthReports([back], null, false)).toEqual([]);
  });

  it('compares each resource with its own last outcome', () => {
    const reported = { ...failed('1 missing'), id: 'reported' };
    expect(healthReports([reported, IN_ORDER], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', IN_ORDER),
    ]);
  });
});
