/** Builds the web console into dist/apps/console, with a compressed copy beside each file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { filesBelow, ROOT } from './files.mjs';

const COMPRESSED = /\.(?:html|js|css|svg)$/;

export async function buildConsole() {
  // tests build what is shipped, too: React has another, much larger half for every other value
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  await build({ configFile: join(ROOT, 'apps/console/vite.config.mjs'), logLevel: 'warn' });
  if (before === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = before;
  for (const file of filesBelow('dist/apps/console').filter((path) => COMPRESSED.test(path))) {
    const content = readFileSync(join(ROOT, file));
    writeFileSync(join(ROOT, `${file}.gz`), gzipSync(content, { level: 9 }));
    const brotli = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
    writeFileSync(join(ROOT, `${file}.br`), brotliCompressSync(content, brotli));
  }
}
