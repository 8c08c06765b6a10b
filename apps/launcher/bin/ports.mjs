import { once } from 'node:events';
import { createServer } from 'node:net';
import { codeOf } from '../../../tools/files.mjs';

/** As `launcher.settings.ts` has them. */
const DEFAULTS = { PORT: 3000, SIMULATOR_PORT: 4666 };

/**
 * The first installation takes a minute: ports that are in use are named before it, all at once, with free ones.
 * @throws Error with what to do
 */
export async function refuseTakenPorts() {
  const { CLOUD, DATA_DIR } = process.env;
  const wanted = Object.entries(DEFAULTS).filter(([name]) => name === 'PORT' || CLOUD !== 'real');
  const taken = [];
  /** @type {number[]} */
  const free = [];
  for (const [name, usual] of wanted) {
    const port = Number(process.env[name] || usual);
    if (await isTaken(port)) taken.push(`port ${port} (${name})`);
    let nearest = port;
    while (free.includes(nearest) || (await isTaken(nearest))) nearest++;
    free.push(nearest);
  }
  if (taken.length === 0) return;
  const command = [
    ...(DATA_DIR ? [`DATA_DIR=${DATA_DIR}`] : []),
    ...wanted.map(([name], index) => `${name}=${free[index]}`),
    'npm start',
  ];
  throw new Error(
    `In use: ${taken.join(', ')}.\nStop what listens there, or choose ports that are free now:\n\n  ${command.join(' ')}`,
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
