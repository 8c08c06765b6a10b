import type { NamingResource } from '#engine-store';
import { asOrganizationId } from '#rules';
import { healthReports } from './health-reports';

const resource = (lastOutcome: NamingResource['lastOutcome']): NamingResource => ({
  id: 'resource',
  organizationId: asOrganizationId('organization'),
  name: 'bastion',
  lastOutcome,
});
const ok = (message: string | null): NamingResource => resource({ eventType: 'RECONCILE_OK', message });
const failed = (message: string): NamingResource => resource({ eventType: 'RECONCILE_FAILED', message });
const NEVER = resource(null);

describe('healthReports', () => {
  const FAILED = ['RECONCILE_FAILED', '1 missing'];

  it.each<[string, NamingResource, string | null, boolean, (string | null)[] | null]>([
    ['a problem without an earlier outcome', NEVER, '1 missing', false, FAILED],
    ['a problem after none', ok(null), '1 missing', false, FAILED],
    ['another problem', failed('2 missing'), '1 missing', false, FAILED],
    ['a problem that recurs', ok('In order again: 1 missing'), '1 missing', false, FAILED],
    ['an unchanged problem', failed('1 missing'), '1 missing', false, null],
    ['an unchanged problem, on request', failed('1 missing'), '1 missing', true, FAILED],
    ['that it is resolved', failed('1 missing'), null, false, ['RECONCILE_OK', 'In order again: 1 missing']],
    ['that there is none, once', NEVER, null, false, ['RECONCILE_OK', null]],
    ['that there is none, again', ok(null), null, false, null],
    ['that there is none any more, again', ok('In order again: 1 missing'), null, false, null],
    ['that there is none, on request', ok(null), null, true, ['RECONCILE_OK', null]],
  ])('%s', (_, before, problem, requested, told) => {
    const reports = healthReports([before], problem, requested);
    expect(reports.map(({ eventType, message }) => [eventType, message])).toEqual(told ? [told] : []);
  });

  it('compares each resource with its own last outcome', () => {
    const reports = healthReports([failed('1 missing'), ok(null)], '1 missing', false);
    expect(reports).toMatchObject([{ resources: [ok(null)], needsPeople: false }]);
  });
});
