import type { Request } from 'playwright-core';
import { founder } from '../builders/accounts/people';
import { describeInBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';

const MAX_BYTES = 150 * 1024;

describeInBrowser('The console loads quickly', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const site = TestConsole.of(drawbridge);

  it.each(['who has not signed in', 'a member'])(
    'the first screen of %s takes 150 kB at most',
    async (who) => {
      const isMember = who === 'a member';
      const visitor = isMember ? await site.signedIn(await founder(drawbridge)) : await site.stranger();
      const files = new Map<string, Request>();
      visitor.page.on('request', (request) => {
        const { origin, pathname } = new URL(request.url());
        expect(origin).toBe(site.origin);
        if (!pathname.startsWith('/api/')) files.set(request.url(), request);
      });
      await visitor.goto('/');
      // as they are sent, compressed
      const sizes = await Promise.all([...files.values()].map((file) => file.sizes()));
      expect(sizes.length).toBeGreaterThan(2);
      const total = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
      process.stderr.write(`${who}: ${sizes.length} files, ${Math.round(total / 1024)} kB\n`);
      expect(total).toBeLessThanOrEqual(MAX_BYTES);
    },
  );
});
