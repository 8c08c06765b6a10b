import { DriverRegistry, type TargetName } from '#drivers';
import { kinds, remove, thrown } from './driver-actions';
import type { DriverSuite } from './driver-suite';

/** Credential checks, verification and names of targets. */
export function describeAccess(suite: DriverSuite): void {
  const { specOf, add, apply, addOne } = suite.actions;

  describe('credentials', () => {
    const check = (credential = suite.target.credential): Promise<unknown> =>
      thrown(suite.bench.driver.checkCredential(credential));

    it('is denied with a wrong secret without exposing it in the message', async () => {
      const { credential } = suite.bench.withWrongSecret(suite.target);
      expect(await check(credential)).toBe('denied');
      const error: unknown = await suite.bench.driver
        .checkCredential(credential)
        .catch((reason: unknown) => reason);
      for (const [field, value] of Object.entries(credential.data)) {
        if (/secret|token|key$/i.test(field)) expect(String(error)).not.toContain(value);
      }
    });

    it('is denied with an unknown credential', async () => {
      expect(await check(suite.bench.unknownCredential())).toBe('denied');
    });

    it.each([
      ['throttle', 'throttled'],
      ['error', 'transient'],
      ['refuse', 'denied'],
    ] as const)('reports %s as %s and accepts the credential afterwards', async (fault, kind) => {
      await suite.bench.injectCheckFault(fault, { count: 1 });
      expect(await check()).toBe(kind);
      expect(await check()).toBe('no error');
    });

    it('makes no call on a target', async () => {
      await check();
      expect(await suite.bench.calls(suite.target)).toEqual([]);
    });
  });

  describe('targets', () => {
    it('verify fails for each permission that is missing, and names it where the cloud has roles', async () => {
      const { role } = suite.bench;
      // some clouds report permissions only for an existing rule
      await addOne(specOf('203.0.113.7/32'));
      if (!role) return verifyWithRefusedCalls();
      const before = await suite.bench.rules(suite.target);
      for (const permission of role.verified) {
        await role.withdraw([permission]);
        const error: unknown = await suite.bench.driver
          .verify(suite.target, {})
          .catch((reason: unknown) => reason);
        expect([permission, error]).toEqual([permission, expect.objectContaining({ kind: 'denied' })]);
        expect(String(error)).toContain(permission);
      }
      await role.withdraw([]);
      expect(await thrown(suite.bench.driver.verify(suite.target, {}))).toBe('no error');
      expect(await suite.bench.rules(suite.target)).toEqual(before);
    });

    /** Where a credential may write or may not: its calls are refused one kind at a time. */
    async function verifyWithRefusedCalls(): Promise<void> {
      const before = await suite.bench.rules(suite.target);
      for (const effect of ['read', 'add', 'remove'] as const) {
        await suite.bench.injectFault(suite.target, effect, 'refuse', { count: 1 });
        const isUndetected = effect !== 'read' && suite.bench.cloud.permissionKnownByWriteOnly;
        expect(await thrown(suite.bench.driver.verify(suite.target, {}))).toBe(
          isUndetected ? 'no error' : 'denied',
        );
        if (!isUndetected) continue;
        const spec = specOf('198.51.100.1/32');
        const change =
          effect === 'remove' && suite.bench.cloud.removesEach ? remove(spec.address) : add(spec);
        expect(kinds(await apply([change]))).toEqual(['denied']);
      }
      expect(await suite.bench.rules(suite.target)).toEqual(before);
    }

    it('has one canonical name per target for every spelling', () => {
      const { resourceType, identifier } = suite.target;
      const { nameTarget } = DriverRegistry.facts(suite.bench.driver.kind).resourceTypes[resourceType]!;
      const placed = (spelled: string): TargetName =>
        nameTarget({
          identifier: spelled,
          config: {},
          organization: 'any',
          hints: suite.target.credential.data,
        });
      const { respell = (text: string) => text.toUpperCase() } = suite.bench;
      expect(placed(respell(identifier))).toEqual(placed(identifier));
      expect(placed(identifier).identifier).toBe(identifier);
      expect(placed(suite.bench.target(1).identifier).key).not.toBe(placed(identifier).key);
      expect(placed(identifier).key.startsWith(`${suite.bench.driver.kind}:`)).toBe(true);
    });

    it('returns an account key without the secret', () => {
      const name = suite.bench.driver.accountKey(suite.target);
      expect(suite.bench.driver.accountKey(suite.bench.target(1))).toBe(name);
      for (const [field, value] of Object.entries(suite.target.credential.data)) {
        if (/secret|token|key$/i.test(field)) expect(name).not.toContain(value);
      }
    });

    it('gives a credential that names the account without its proof a write budget of its own', () => {
      const { driver } = suite.bench;
      const own = driver.accountKey(suite.target);
      const { credential } = suite.target;
      const { identity } = credential;
      const organization = identity
        ? { ...credential, identity: { ...identity, issuer: 'https://another.example.com' } }
        : { ...credential, externalId: 'of-another-organization' };
      const unproven = { ...suite.target, credential: organization, unprovenPath: 'another-credential' };
      expect(driver.accountKey(unproven)).not.toBe(own);
      if (!identity) expect(driver.accountKey(suite.bench.withWrongSecret(suite.target))).not.toBe(own);
    });
  });
}
