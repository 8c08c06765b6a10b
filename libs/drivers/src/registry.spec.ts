import { DriverRegistry } from './registry';

/** Of a bucket: the share of additions, and the calls of a verification. */
const ADDED_AT_ONCE = 0.8;
const VERIFYING_CALLS = 2;

describe('The traits of each type of resources', () => {
  const types = DriverRegistry.driven.flatMap((provider) =>
    Object.entries(DriverRegistry.facts(provider).resourceTypes).map(
      ([resourceType, { traits }]) => [`${provider} ${resourceType}`, traits] as const,
    ),
  );

  it.each(types)(
    'of %s have a write budget from which an addition and a verification can be taken',
    (_, traits) => {
      const { burst, refillPerSecond } = traits.writeBudget;
      // a batch takes its calls at once
      expect(burst * ADDED_AT_ONCE).toBeGreaterThanOrEqual(traits.callPerRule ? traits.batchSize : 1);
      expect(burst).toBeGreaterThanOrEqual(VERIFYING_CALLS);
      expect(refillPerSecond).toBeGreaterThan(0);
    },
  );

  it('come with the driver of a type, of which there is one', async () => {
    const registry = new DriverRegistry({});
    const [provider] = DriverRegistry.driven;
    const { resourceTypes } = DriverRegistry.facts(provider!);
    const [resourceType, { traits }] = Object.entries(resourceTypes)[0]!;
    const driver = await registry.driverFor(provider!, resourceType);
    expect(driver.traits).toBe(traits);
    expect(await registry.driverFor(provider!, resourceType)).toBe(driver);
    await expect(registry.driverFor(provider!, 'VAULT')).rejects.toThrow('VAULT');
  });
});
