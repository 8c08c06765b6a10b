import { accountOwner } from '../builders/accounts/accounts';
import {
  addressesOf,
  MFA_SET_UP,
  strangersPath,
  type KnownObjects,
} from '../builders/console/console-screens';
import { crowdedOrganization, LONG_ADDRESS } from '../builders/console/crowded-organization';
import { founder } from '../builders/accounts/people';
import { describeInBrowser, type Visitor } from '../harness/console/browser';
import { plant, TestConsole } from '../harness/console/console';
import { consoleRoutes } from '../harness/console/console-routes';
import { Drawbridge } from '../harness/product/drawbridge';
import { findingsOf, findingsWithParts } from '../harness/console/page-checks';

const HERE = '127.0.0.1';

describeInBrowser('Every screen of the console is right in both schemes and at any width', () => {
  const drawbridge = Drawbridge.shared();
  const site = TestConsole.of(drawbridge);
  let routes: string[];

  beforeAll(async () => {
    routes = await consoleRoutes();
  });

  /** @returns the screens with findings */
  const lookedAt = async (visitor: Visitor, paths: readonly string[]): Promise<Record<string, string[]>> => {
    const wrong: Record<string, string[]> = {};
    for (const path of paths)
      for (const [part, findings] of await findingsWithParts(visitor, site.url(path)))
        if (findings.length > 0) wrong[path + part] = findings;
    return wrong;
  };
  const administratorSees = async (
    account: { email: string },
    known: KnownObjects | null,
    address = HERE,
    further: readonly string[] = [],
  ): Promise<Record<string, string[]>> => {
    const paths = [...routes.flatMap((route) => addressesOf(route, known)), ...further];
    expect(paths.length).toBeGreaterThan(10);
    // two at a time: a browser waits more than it works
    const halves = [0, 1].map((half) => paths.filter((_, index) => index % 2 === half));
    const seen = await Promise.all(
      halves.map(async (half) => {
        const visitor = await site.signedIn(account);
        // as a proxy before the service says it
        if (address !== HERE) await visitor.context.setExtraHTTPHeaders({ 'X-Forwarded-For': address });
        return lookedAt(visitor, half);
      }),
    );
    return Object.assign({}, ...seen) as Record<string, string[]>;
  };

  it('for who has not signed in', async () => {
    const visitor = await site.stranger();
    const asked = await Promise.all(routes.map((route) => strangersPath(drawbridge, route)));
    const paths = asked.filter((path) => path !== null);
    expect(paths.length).toBeGreaterThan(4);
    expect(await lookedAt(visitor, paths)).toEqual({});
  });

  it('for who has to set up a second factor first', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.organizationSets('mfa_required', true);
    expect(await lookedAt(await site.signedIn(owner), [MFA_SET_UP])).toEqual({});
  });

  it('in an organization that has nothing yet', async () => {
    expect(await administratorSees(await founder(drawbridge), null)).toEqual({});
  });

  it('in a large organization whose names are as long as can be, and would be code if they were not text', async () => {
    const org = await crowdedOrganization(drawbridge, HERE);
    const session = await org.started({ ipv4Address: '203.0.113.77', ipv6Address: LONG_ADDRESS });
    const known = {
      '/resources/$id': org.resourceIds[0]!,
      '/credentials/$id': org.credentialId,
      '/people/$id': org.userId,
      '/roles/$id': org.roleId,
      '/static-rules/$id': org.staticIpRuleId,
      '/automation/trusts/$id': org.oidcTrustId,
      '/organization/providers/$id': org.identityProviderId,
      '/webhooks/$id': org.webhookId,
      '/sessions/$id': session.id,
      '/requests/$id': org.accessRequestId,
    };
    const seen = await administratorSees(org.keeper, known, LONG_ADDRESS, [
      `/sessions/${org.refusedSessionId}`,
    ]);
    expect(seen).toEqual({});
  });

  describe('and what is wrong is found:', () => {
    it.each([
      ['a style in the markup', `document.body.setAttribute('style', 'color: red')`, /style-src/],
      ['markup from a text', `document.body.insertAdjacentHTML('beforeend', '<b>bold</b>')`, /TrustedHTML/],
      ['a code from a text', `new Function('return 1')()`, /script/],
      [
        'an image of another site',
        `document.body.append(Object.assign(new Image(), { alt: '', src: 'https://elsewhere.example/x.png' }))`,
        /img-src/,
      ],
      [
        'a field without a label',
        `document.querySelector('main').append(document.createElement('input'))`,
        /label/,
      ],
      ['an error', `console.error('Something is amiss')`, /amiss/],
      [
        'a text that is hard to read',
        `document.querySelector('h1').style.color = 'light-dark(#ddd, #333)'`,
        /light: color-contrast/,
      ],
      [
        'an address that breaks',
        `Object.assign(document.querySelector('h1'), { innerText: '203.0.113.56/32' }).style.width = '7rem'`,
        /320 px: broken: 203\.0\.113\.56\/32/,
      ],
      ['a line that does not wrap', `document.querySelector('h1').style.minWidth = '700px'`, /320 px: wider/],
    ])('%s', async (_, code, finding) => {
      const visitor = await site.stranger();
      await plant(
        visitor.context,
        `new MutationObserver((_, observer) => {
          if (!document.querySelector('h1')) return;
          observer.disconnect();
          ${code};
        }).observe(document, { subtree: true, childList: true })`,
      );
      const findings = await findingsOf(visitor, site.url('/sign-in'));
      expect(findings.join('\n')).toMatch(finding);
    });
  });
});
