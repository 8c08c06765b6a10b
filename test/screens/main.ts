import 'reflect-metadata';
import { resolve } from 'node:path';
import { TestBrowser } from '../harness/console/browser';
import { TestConsole } from '../harness/console/console';
import { Drawbridge } from '../harness/product/drawbridge';
import acquireTestServer from '../harness/product/test-server';
import { seeded, type Scene } from './seed';

const FOLDER = resolve(__dirname, '../../docs/screens');

interface Picture {
  readonly name: string;
  readonly as: 'administrator' | 'member';
  readonly path: (scene: Scene) => string;
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

const PICTURES: readonly Picture[] = [
  { name: 'access', as: 'member', path: () => '/' },
  { name: 'access-phone', as: 'member', path: () => '/', width: 390, scheme: 'dark' },
  { name: 'open-now', as: 'administrator', path: () => '/open' },
  { name: 'resource', as: 'administrator', path: ({ resourceId }) => `/resources/${resourceId}` },
  { name: 'set-up', as: 'administrator', path: () => '/set-up' },
  { name: 'people', as: 'administrator', path: () => '/people', scheme: 'dark' },
];

/** Draws docs/screens/console-*.png from a product with made-up data. */
async function main(): Promise<void> {
  const releaseTestServer = await acquireTestServer();
  const drawbridge = await Drawbridge.start();
  const browser = await TestBrowser.start();
  try {
    const scene = await seeded(drawbridge);
    for (const picture of PICTURES) await draw(TestConsole.in(browser, drawbridge), scene, picture);
  } finally {
    await browser.close();
    await drawbridge.stop();
    await releaseTestServer();
  }
}

async function draw(site: TestConsole, scene: Scene, picture: Picture): Promise<void> {
  const { name, as, path, width = 1280, scheme = 'light' } = picture;
  const visitor = await site.signedIn({ email: scene[as] });
  const { page, context } = visitor;
  // as a proxy before the service says it
  await context.setExtraHTTPHeaders({ 'X-Forwarded-For': scene.memberAddress });
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia({ colorScheme: scheme });
  await visitor.goto(path(scene));
  await page.screenshot({ path: resolve(FOLDER, `console-${name}.png`) });
  process.stdout.write(`docs/screens/console-${name}.png\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
