import type { IdentityTokens } from '#drivers';
import { describeAccess } from './access-conformance';
import { kinds, thrown } from './driver-actions';
import type { BenchOptions, DriverBench } from './driver-bench';
import { CAPACITY, driverSuite } from './driver-suite';
import { describeTokens } from './identity-conformance';

/** What every driver must do with credentials that are trusts of the cloud and hold no secret. */
export function describeFederation(
  name: string,
  start: (options: BenchOptions) => Promise<DriverBench>,
): void {
  describe(`${name} with a credential without a secret`, () => {
    const suite = driverSuite(() => start({ capacity: CAPACITY }));
    const { specOf, add, apply, addresses } = suite.actions;
    describeAccess(suite);

    it('is denied without a call where this deployment has no issuer', async () => {
      const target = { ...suite.target, credential: { ...suite.target.credential, identity: null } };
      const error: unknown = await suite.bench.driver.readRules(target).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: 'denied' });
      expect(String(error)).toContain('OIDC_ISSUER_URL');
      expect(await thrown(suite.bench.driver.checkCredential(target.credential))).toBe('denied');
      expect(await suite.bench.calls(suite.target)).toEqual([]);
    });

    it.each(['checkCredential', 'verify'] as const)(
      'is denied by %s when the trust accepts any subject, and is not when it names the one',
      async (operation) => {
        const { driver } = suite.bench;
        const run = (): Promise<unknown> =>
          operation === 'verify'
            ? driver.verify(suite.target, {})
            : driver.checkCredential(suite.target.credential);
        await run();
        await suite.bench.trustAnySubject!();
        const failure = run();
        await expect(failure).rejects.toMatchObject({ kind: 'denied' });
        await expect(failure).rejects.toThrow('any subject');
        const { subject, probeSubject } = suite.target.credential.identity!;
        for (const named of [subject, probeSubject]) await expect(failure).rejects.toThrow(named);
      },
    );

    it('gets nothing through the trust of another credential', async () => {
      const { credential } = suite.target;
      const trusted = credential.identity!;
      const other: IdentityTokens = {
        ...trusted,
        subject: `${trusted.subject}-other`,
        sign: (audience, _, named) => trusted.sign(audience, 'probe', named),
      };
      const target = { ...suite.target, credential: { ...credential, identity: other } };
      expect(await thrown(suite.bench.driver.verify(target, {}))).toMatch(/denied|transient/);
      expect(kinds(await apply([add(specOf('203.0.113.7/32'))], target))).not.toEqual(['done']);
      expect(await addresses()).toEqual([]);
    });
  });

  describeTokens(`${name} with a credential without a secret`, start);
}
