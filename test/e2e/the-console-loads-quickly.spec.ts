import { gunzipSync } from 'node:zlib';
import { describeInBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import { founder, PASSWORD } from '../builders/accounts/people';

const MAX_BYTES = 150 * 1024;

describeInBrowser('The console loads quickly', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  const site = TestConsole.of(drawbridge);

  it.each(['who has not signed in', 'a member'])(
    'the first screen of %s takes 150 kB at most',
    async (who) => {
      const { email } = await founder(drawbridge);
      const visitor =
        who === 'a member' ? await site.signedIn({ email, password: PASSWORD }) : await site.stranger();
      const files = new Set<string>();
      visitor.page.on('request', (request) => {
        const { origin, pathname } = new URL(request.url());
        expect(origin).toBe(site.origin);
        if (!pathname.startsWith('/api/')) files.add(request.url());
      });
      await visitor.goto(site.url('/'));
      const sizes = await Promise.all([...files].map(sizeOf));
      expect(sizes.length).toBeGreaterThan(2);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      process.stderr.write(`${who}: ${sizes.length} files, ${Math.round(total / 1024)} kB\n`);
      expect(total).toBeLessThanOrEqual(MAX_BYTES);
    },
  );
});

/** In bytes, as it is sent to who takes gzip. */
async function sizeOf(url: string): Promise<number> {
  const { default: http } = await import('node:http');
  return new Promise((resolve, reject) => {
    http
      .get(url, { headers: { 'Accept-Encoding': 'gzip', Accept: 'text/html' } }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('end', () => {
          const body = Buffer.concat(parts);
          if (answer.headers['content-encoding'] === 'gzip') gunzipSync(body);
          resolve(body.length);
        });
      })
      .once('error', reject);
  });
}
