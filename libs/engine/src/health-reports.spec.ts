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
});

describe('The health events of a comparison', () => {
  it.each([
    ['that was never compared', NEVER],
    ['that was in order', IN_ORDER],
    ['that had another problem', failed('2 missing')],
  ])('report a problem of a resource %s', (_, before) => {
    expect(healthReports([before], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', before),
    ]);
  });

  it('do not repeat a problem, unless somebody asked', () => {
    expect(healthReports([failed('1 missing')], '1 missing', false)).toEqual([]);
    expect(healthReports([failed('1 missing')], '1 missing', true)).toEqual([
      report('RECONCILE_FAILED', '1 missing', failed('1 missing')),
    ]);
  });

  it('tell what is in order again', () => {
    expect(healthReports([failed('1 missing')], null, false)).toEqual([
      report('RECONCILE_OK', 'In order again: 1 missing', failed('1 missing')),
    ]);
  });

  it('tell once that a resource is in order, and again when somebody asked', () => {
    expect(healthReports([NEVER], null, false)).toEqual([report('RECONCILE_OK', null, NEVER)]);
    expect(healthReports([IN_ORDER], null, false)).toEqual([]);
    expect(healthReports([IN_ORDER], null, true)).toEqual([report('RECONCILE_OK', null, IN_ORDER)]);
  });

  it('report a problem again that came back after it was in order again', () => {
    const back = resource({ eventType: 'RECONCILE_OK', message: 'In order again: 1 missing' });
    expect(healthReports([back], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', back),
    ]);
    expect(healthReports([back], null, false)).toEqual([]);
  });

  it('judge each resource by what was told of it', () => {
    const told = { ...failed('1 missing'), id: 'told' };
    expect(healthReports([told, IN_ORDER], '1 missing', false)).toEqual([
      report('RECONCILE_FAILED', '1 missing', IN_ORDER),
    ]);
  });
});
