import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { neededInCi } from '../needed-in-ci';
import type { Network } from '../network/network';
import { until } from '../until';

const LISTENER = `
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print("ready", flush=True)
while True:
    print(listener.recv(4096).decode(), flush=True)
`;

/** systemd-notify sends the datagrams, and Python receives them: Node.js can do neither. */
export const hasServiceManager = neededInCi(
  'systemd-notify and python3',
  [
    ['systemd-notify', '--version'],
    ['python3', '--version'],
  ].every(([program, option]) => spawnSync(program!, [option!]).status === 0),
);

/** What systemd is to a service: a socket that receives its notifications. */
export class ServiceManagerSocket {
  private readonly received: string[] = [];

  private constructor(
    readonly path: string,
    private readonly child: ChildProcess,
  ) {
    child.stdout!.on('data', (chunk: Buffer) => this.received.push(...chunk.toString().trim().split('\n')));
  }

  static async start(network: Network): Promise<ServiceManagerSocket> {
    const path = join(network.folder, 'notify');
    rmSync(path, { force: true });
    const child = spawn('python3', ['-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const manager = new ServiceManagerSocket(path, child);
    await manager.hears('ready');
    return manager;
  }

  /** How often it received this. */
  count(message: string): number {
    return this.received.filter((received) => received === message).length;
  }

  hears(message: string, times = 1): Promise<boolean> {
    return until(`the service manager hears ${message}`, () => Promise.resolve(this.count(message) >= times));
  }

  stop(): void {
    this.child.kill('SIGKILL');
  }
}
