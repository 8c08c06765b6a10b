import { createServer, type Server } from 'node:http';
import { ApisixProvider } from './apisix/apisix-provider';
import { AwsProvider } from './aws/aws-provider';
import { AzureProvider } from './azure/azure-provider';
import { ControlInterface } from './control/control-interface';
import { HttpRouter } from './http-router';
import { GcpProvider } from './gcp/gcp-provider';
import { StateFile } from './ground-truth/state-file';
import { VercelProvider } from './vercel/vercel-provider';
import { SimulatedWorld } from './world';

export interface SimulatorOptions {
  /** 0: any free port */
  readonly port?: number;
  readonly host?: string;
  /** delay before every provider call is handled, ms */
  readonly latencyMs?: number;
  readonly rulesPerGroup?: number;
  /** number of security groups */
  readonly groups?: number;
  /** entries an AWS prefix list may have */
  readonly entriesPerList?: number;
  /** how long AWS takes to apply an accepted change of a prefix list, ms */
  readonly listChangeMs?: number;
  /** firewall rules the Google project may have */
  readonly firewallsPerProject?: number;
  /** how long Compute takes to apply an accepted write, ms */
  readonly gcpOperationMs?: number;
  /** rules an Azure network security group may have */
  readonly azureRulesPerGroup?: number;
  /** how long Azure takes to apply an accepted change, ms */
  readonly azureOperationMs?: number;
  /** burst of changes of a subscription */
  readonly azureWriteBurst?: number;
  /** addresses that the firewall of a Vercel project may list */
  readonly vercelAddresses?: number;
  readonly writeBurst?: number;
  readonly writeRefillPerSecond?: number;
  readonly readBurst?: number;
  readonly readRefillPerSecond?: number;
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

const DEFAULTS = {
  port: 0,
  host: '127.0.0.1',
  latencyMs: 0,
  rulesPerGroup: 60,
  groups: 10,
  entriesPerList: 60,
  listChangeMs: 50,
  firewallsPerProject: 100,
  gcpOperationMs: 50,
  azureRulesPerGroup: 1000,
  azureOperationMs: 50,
  azureWriteBurst: 1000,
  vercelAddresses: 4875,
  writeBurst: 50,
  writeRefillPerSecond: 5,
  readBurst: 100,
  readRefillPerSecond: 20,
};

/** Longer than the idle timeout of clients' connection pools, so that clients close idle connections first. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts the simulated clouds on one port: providers below their prefixes, the control interface below `/_`, the page at
 * `/`.
 * @throws the listening error when the port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<RunningSimulator> {
  const settings = { ...DEFAULTS, ...options };
  const world = new SimulatedWorld();
  const aws = new AwsProvider(world, {
    rulesPerGroup: settings.rulesPerGroup,
    groups: settings.groups,
    entriesPerList: settings.entriesPerList,
    listChangeMs: settings.listChangeMs,
    writes: { burst: settings.writeBurst, refillPerSecond: settings.writeRefillPerSecond },
    reads: { burst: settings.readBurst, refillPerSecond: settings.readRefillPerSecond },
  });
  const gcp = new GcpProvider(world, {
    firewallsPerProject: settings.firewallsPerProject,
    operationMs: settings.gcpOperationMs,
  });
  const azure = new AzureProvider(world, {
    rulesPerGroup: settings.azureRulesPerGroup,
    operationMs: settings.azureOperationMs,
    // the resource manager's limits: a thousand writes and ten thousand reads in five minutes
    writes: { burst: settings.azureWriteBurst, refillPerSecond: 3 },
    reads: { burst: 10_000, refillPerSecond: 33 },
  });
  const vercel = new VercelProvider(world, {
    addresses: settings.vercelAddresses,
    // limit of the Pro plan
    rules: 40,
    // Vercel documents no numbers: high limits, so that tests depend on the driver's own rate
    writes: { burst: 100, refillPerSecond: 10 },
    reads: { burst: 500, refillPerSecond: 50 },
  });
  const providers = [aws, gcp, azure, new ApisixProvider(world), vercel];
  const control = new ControlInterface(world, providers, () => {
    world.reset();
    for (const provider of providers) provider.reset();
    httpRouter.dropCalls();
  });
  const httpRouter = new HttpRouter(world, providers, control, settings.latencyMs);
  const stateFile = settings.stateFile ? new StateFile(settings.stateFile, providers, world.ledger) : null;
  const problem = stateFile?.open() ?? null;
  if (problem !== null) settings.onWarning?.(problem);
  const server = createServer((request, response) => httpRouter.receive(request, response));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, settings.port, settings.host);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port');
  const { port } = address;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    port,
    url: `http://${host}:${port}`,
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
