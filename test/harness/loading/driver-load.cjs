/**
 * Runs in a fresh process, from the build of the release in the current folder: loads a provider's driver, verifies a
 * target with it, and reports the cost.
 * The work is passed as JSON: `{ provider, environment, target }`.
 */
const { resolve } = require('node:path');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { setTimeout: pause } = require('node:timers/promises');
const { DriverRegistry } = require(resolve('dist/libs/drivers/src/index.js'));
const { loadedParts } = require('./loaded-parts.cjs');

const megabytes = () => {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
};

async function main({ provider, environment, target }) {
  const registry = new DriverRegistry(environment);
  const before = megabytes();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  // the first delay is known after two ticks
  await pause(20);
  delay.reset();
  const began = performance.now();
  const driver = await registry.driver(provider);
  const loadMs = performance.now() - began;
  await driver.verify({ ...target, claims: new Map() }, {});
  const readyMs = performance.now() - began;
  await pause(20);
  const stallMs = delay.max / 1e6;
  delay.disable();
  const after = megabytes();
  console.log(JSON.stringify({ loadMs, readyMs, stallMs, before, after, loaded: loadedParts() }));
}

main(JSON.parse(process.argv[2])).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
