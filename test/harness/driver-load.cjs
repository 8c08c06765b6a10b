/**
 * Runs in a fresh process, from the build of the release in the current folder: loads a provider's driver, verifies a
 * target with it, and reports the cost.
 * The work is passed as JSON: `{ provider, environment, target }`.
 */
const { resolve } = require('node:path');
const { DriverRegistry } = require(resolve('dist/libs/drivers/src/index.js'));
const { loadedParts } = require('./loaded-parts.cjs');

const megabytes = () => {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
};

async function main({ provider, environment, target }) {
  const registry = new DriverRegistry(environment);
  const before = megabytes();
  const began = performance.now();
  const driver = await registry.driver(provider);
  const loadMs = performance.now() - began;
  await driver.verify({ ...target, claims: new Map() }, {});
  const readyMs = performance.now() - began;
  const after = megabytes();
  console.log(JSON.stringify({ loadMs, readyMs, before, after, loaded: loadedParts() }));
}

main(JSON.parse(process.argv[2])).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
