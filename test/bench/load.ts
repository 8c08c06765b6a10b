import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly amount: number;
  /** omitted: as many as the connections allow */
  readonly requestsPerSecond?: number;
  /** of each request; a session for an address of its own unless given */
  readonly body?: () => object;
}

export interface LoadOutcome {
  readonly perSecond: number;
  /** milliseconds */
  readonly p99: number;
}

/** The call limits of EC2, instead of the tests' generous ones. */
export const EC2_LIMITS = { SIMULATOR_WRITE_BURST: '50', SIMULATOR_READ_BURST: '100' } as const;

let used = 0;

/** An address that was not used in this run. */
export function freshAddress(): string {
  used += 1;
  return `10.${(used >> 16) & 255}.${(used >> 8) & 255}.${used & 255}`;
}

/**
 * POSTs sessions, each for its own address.
 * @throws Error when a request fails
 */
export async function startSessions({
  url,
  headers = {},
  connections,
  amount,
  requestsPerSecond,
  body = () => ({ ipv4Address: freshAddress() }),
}: Load): Promise<LoadOutcome> {
  const began = performance.now();
  let ended = began;
  const run = autocannon({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    connections,
    amount,
    ...(requestsPerSecond === undefined ? {} : { overallRate: requestsPerSecond }),
    requests: [{ setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }],
  });
  // autocannon itself ends on a whole second
  run.on('response', () => {
    ended = performance.now();
  });
  const result = await run;
  if (result['2xx'] !== amount) {
    throw new Error(
      `${url}: ${result['2xx']} of ${amount} sessions started, ${result.errors} requests failed`,
    );
  }
  return { perSecond: (1000 * amount) / (ended - began), p99: result.latency.p99 };
}
