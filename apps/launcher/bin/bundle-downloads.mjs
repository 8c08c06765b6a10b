import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleAgent } from './bundle-agent.mjs';
import { bundleCli } from './bundle-cli.mjs';
import { AGENT, publish } from './downloads.mjs';

/**
 * Makes what the API offers under /downloads, except for packages, which take minutes.
 * @param {string} root
 */
export async function bundleDownloads(root) {
  await Promise.all([bundleAgent(root, join(root, AGENT)), bundleCli(root)]);
  publish(root);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bundleDownloads(resolve(dirname(fileURLToPath(import.meta.url)), '../../..'));
}
