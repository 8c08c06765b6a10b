import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Takes the lock of the agent that serves with a state file. It is a name in the kernel (an abstract socket of this network
 * namespace): it needs no disk and is gone with its process, however that ended.
 * @returns what releases it; null while another process holds it. @throws Error for every other reason
 */
export function takeServingLock(stateFile: string): Promise<(() => void) | null> {
  const server = createServer().unref();
  const name = createHash('sha256').update(stateFile).digest('hex').slice(0, 32);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen({ path: `\0drawbridge-agent-${name}` }, () => resolve(() => void server.close()));
  });
}
