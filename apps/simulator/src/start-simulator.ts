import { createServer, type Server } from 'node:http';
import { ApisixProvider } from './apisix/apisix-provider';
import { AtlasProvider } from './atlas/atlas-provider';
import { AwsProvider } from './aws/aws-provider';
import { AzureProvider } from './azure/azure-provider';
import { ControlInterface } from './control/control-interface';
import { HttpRouter } from './http-router';
import { GcpProvider } from './gcp/gcp-provider';
import { StateFile } from './ground-truth/state-file';
import { issuerRoutes } from './issuer/controls';
import { Issuer } from './issuer/issuer';
import { DEFAULT_SIZES, type Sizes } from './sizes';
import { VercelProvider } from './vercel/vercel-provider';
import { SimulatedWorld } from './world';

export interface SimulatorOptions extends Partial<Sizes> {
  /** 0: any free port */
  readonly port?: number;
  readonly host?: string;
  /** persists open rules across restarts; unset: in memory only */
  readonly stateFile?: string | undefined;
  /** receives problems that do not prevent the start */
  readonly onWarning?: (message: string) => void;
}

export interface RunningSimulator {
  readonly port: number;
  readonly url: string;
  /** Stops listening and closes every connection, unanswered ones included. */
  close(): Promise<void>;
}

/** Longer than the idle timeout of clients' connection pools, so that clients close idle connections first. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts the simulated clouds on one port: providers below their prefixes, an identity provider below `/issuer`,
 * the control interface below `/_`, the page at `/`.
 * @throws the listening error when the port is taken
 */
export async function startSimulator({
  port: wantedPort = 0,
  host: wantedHost = '127.0.0.1',
  stateFile: path,
  onWarning,
  ...sizes
}: SimulatorOptions = {}): Promise<RunningSimulator> {
  const world = new SimulatedWorld({ ...DEFAULT_SIZES, ...sizes });
  const providers = [
    new AwsProvider(world),
    new GcpProvider(world),
    new AzureProvider(world),
    new ApisixProvider(world),
    new VercelProvider(world),
    new AtlasProvider(world),
  ];
  let url = '';
  const issuer = new Issuer(() => url);
  const control = new ControlInterface(world, providers, issuerRoutes(issuer), () => {
    world.reset();
    issuer.people.reset();
    for (const provider of providers) provider.reset();
    httpRouter.dropCalls();
  });
  const httpRouter = new HttpRouter(world, providers, control, issuer);
  const stateFile = path ? new StateFile(path, providers, world.ledger, issuer) : null;
  const problem = stateFile?.open() ?? null;
  if (problem !== null) onWarning?.(problem);
  const server = createServer((request, response) => httpRouter.receive(request, response));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, wantedPort, wantedHost);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port');
  const { port } = address;
  const host = wantedHost.includes(':') ? `[${wantedHost}]` : wantedHost;
  url = `http://${host}:${port}`;
  return {
    port,
    url,
    close: async () => {
      await close(server);
      stateFile?.close();
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}
