import { once } from 'node:events';
import { createServer } from 'node:net';
import { codeOf } from '../../../tools/files.mjs';

/** As `launcher.settings.ts` has them. */
const DEFAULTS = { PORT: 3000, SIMULATOR_PORT: 4666 };

/**
 * The first installation takes a minute: ports that another program uses are told before it, all at once.
 * @throws Error with what to do
 */
export async function refuseTakenPorts() {
  const { CLOUD } = process.env;
  const wanted = Object.entries(DEFAULTS).filter(([name]) => name === 'PORT' || CLOUD !== 'real');
  const taken = [];
  for (const [name, usual] of wanted) {
    const port = Number(process.env[name] || usual);
    if (await isTaken(port)) taken.push({ name, port });
  }
  if (taken.length === 0) return;
  const ports = taken.map(({ port }) => port).join(' and ');
  const free = taken.map(({ name, port }) => `${name}=${port + 1}`).join(' ');
  throw new Error(
    `Used by another program: port ${ports}. Stop that, or choose others:\n\n  ${free} npm start`,
  );
}

/** @param {number} port @returns {Promise<boolean>} */
async function isTaken(port) {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return false;
  } catch (error) {
    // anything else is the launcher's to explain
    return codeOf(error) === 'EADDRINUSE';
  } finally {
    server.close();
  }
}
