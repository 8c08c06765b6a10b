import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Tx } from '#entities';
import { SessionStore } from '#tenant-store';
import { asOrganizationId, ruleSpecs } from '#rules';
import { Pool } from 'pg';

/**
 * The minimal server that starts a session: node:http and a pool, with the product's own statement and parameters of
 * the same shape. It has no validation and no authentication.
 */
export interface FloorSettings {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly organizationId: string;
  readonly userId: string;
  readonly resourceId: string;
  readonly targetId: string;
  readonly config: { readonly port: number };
}

const EXAMPLE = { sessionId: randomUUID(), address: '10.255.255.255' };

interface Recorded {
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** Calls the product's own store with an example, and records its statement instead of executing it. */
async function recordStart(settings: FloorSettings): Promise<Recorded> {
  const sent: Recorded[] = [];
  const client = {
    query: ({ name, text: statement, values }: { name: string; text: string; values: unknown[] }) => {
      sent.push({ name, text: statement, parameters: values });
      return Promise.resolve({ rows: [{}] });
    },
  };
  const recorder = { queryRunner: { connect: () => Promise.resolve(client) } } as unknown as Tx;
  const { sessionId, address } = EXAMPLE;
  const specs = ruleSpecs(`${address}/32`, settings.config, 'one');
  const holder = {
    resourceId: settings.resourceId,
    revision: 0,
    targetId: settings.targetId,
    ipVersion: 4,
    ipAddress: address,
    specs,
  } as const;
  await new SessionStore().start(
    recorder,
    asOrganizationId(settings.organizationId),
    {
      id: sessionId,
      userId: settings.userId,
      holder: '',
      ipv4Address: address,
      ipv6Address: null,
      hours: 1,
      leaseSeconds: null,
      replaced: null,
      tokenHash: null,
      apiKeyId: null,
      reason: null,
      ticket: null,
      permission: { reasonPatterns: null, accessRequestId: null, brokenBy: null },
      holders: [holder],
      limits: { perUser: 0, perServiceUser: 0 },
    },
    {
      actorType: 'USER',
      actorId: settings.userId,
      actorEmail: 'floor@example.com',
      ipAddress: '127.0.0.1',
      eventType: 'SESSION_STARTED',
      resourceType: 'SESSION',
      resourceId: sessionId,
      resourceName: 'floor@example.com',
      details: { ipv4Address: address, ipv6Address: null, durationHours: 1 },
    },
  );
  const [only] = sent;
  if (!only || sent.length !== 1)
    throw new Error(`Starting a session takes ${sent.length} statements, not one`);
  return only;
}

/** The recorded parameters, with the ids and address of a new session. */
function parametersFor({ parameters }: Recorded, address: string): unknown[] {
  const [ip] = JSON.parse(String(parameters[7])) as { id: string }[];
  const [sessionId, ipId] = [randomUUID(), randomUUID()];
  return parameters.map((parameter) =>
    typeof parameter === 'string'
      ? parameter
          .replaceAll(EXAMPLE.sessionId, sessionId)
          .replaceAll(ip!.id, ipId)
          .replaceAll(EXAMPLE.address, address)
      : parameter,
  );
}

async function serve(settings: FloorSettings): Promise<void> {
  const recorded = await recordStart(settings);
  const pool = new Pool({ connectionString: settings.databaseUrl, max: settings.poolSize });
  // the database has stopped: the run is over
  pool.on('error', () => process.exit(1));
  const start = async (request: IncomingMessage): Promise<string> => {
    const { ipv4Address } = JSON.parse(await text(request)) as { ipv4Address: string };
    const values = parametersFor(recorded, ipv4Address);
    const { rows } = await pool.query<object>({ name: recorded.name, text: recorded.text, values });
    return JSON.stringify(rows[0]);
  };
  const server = createServer((request, response) => {
    start(request).then(
      (body) => response.setHeader('Content-Type', 'application/json').end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send!({ port: typeof address === 'object' && address ? address.port : 0 });
  });
  process.once('disconnect', () => process.exit(0));
}

process.once('message', (settings: FloorSettings) => void serve(settings));
