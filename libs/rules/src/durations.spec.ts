import * as fc from 'fast-check';
import { maximumDuration, TIER_LIMITS, TIERS, type ResourceGrant } from './durations';

const grant = (resourceName: string, ...hours: (number | null)[]): ResourceGrant => ({
  resourceName,
  roles: hours.map((maxSessionDurationHours, index) => ({
    name: `${resourceName} role ${index + 1}`,
    maxSessionDurationHours,
  })),
});

describe('maximumDuration', () => {
  it.each([
    ['PAID', [], 24, 'the Paid plan'],
    ['FREE', [grant('db', 4)], 4, 'the Free plan'],
    ['FREE', [grant('db', 2)], 2, 'role "db role 1" on resource "db"'],
    ['PAID', [grant('db', 2, 8, 4)], 8, 'role "db role 2" on resource "db"'],
    ['PAID', [grant('db', 2, null)], 24, 'the Paid plan'],
    ['PAID', [grant('db', 8), grant('web', 2)], 2, 'role "web role 1" on resource "web"'],
    ['PAID', [grant('db', 3), grant('web', 3)], 3, 'role "db role 1" on resource "db"'],
    ['PAID', [grant('db')], 24, 'the Paid plan'],
  ] as const)('%s, %j: %d hours, set by %s', (tier, grants, hours, setBy) => {
    expect(maximumDuration(tier, grants)).toEqual({ hours, setBy });
  });

  const role = fc.record({
    name: fc.string({ minLength: 1, maxLength: 8 }),
    maxSessionDurationHours: fc.option(fc.integer({ min: 1, max: 24 }), { nil: null }),
  });
  const grants = fc.array(
    fc.record({
      resourceName: fc.string({ minLength: 1, maxLength: 8 }),
      roles: fc.array(role, { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 5 },
  );
  const tiers = fc.constantFrom(...TIERS);

  it('is the minimum of the plan and, per resource, the maximum of its roles', () => {
    fc.assert(
      fc.property(tiers, grants, (tier, given) => {
        const most = given.map(({ roles }) =>
          Math.max(...roles.map((one) => one.maxSessionDurationHours ?? Infinity)),
        );
        expect(maximumDuration(tier, given).hours).toBe(Math.min(TIER_LIMITS[tier].sessionHours, ...most));
      }),
    );
  });

  it('is set by the plan, or by one of the given roles and resources', () => {
    fc.assert(
      fc.property(tiers, grants, (tier, given) => {
        const { hours, setBy } = maximumDuration(tier, given);
        const setters = given.flatMap(({ resourceName, roles }) =>
          roles
            .filter((one) => one.maxSessionDurationHours === hours)
            .map((one) => `role "${one.name}" on resource "${resourceName}"`),
        );
        const ofPlan = TIER_LIMITS[tier].sessionHours === hours;
        expect(ofPlan ? [`the ${tier === 'FREE' ? 'Free' : 'Paid'} plan`] : setters).toContain(setBy);
      }),
    );
  });
});
