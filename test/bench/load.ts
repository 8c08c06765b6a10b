import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly amount: number;
}

export interface LoadOutcome {
  readonly perSecond: number;
  /** milliseconds */
  readonly p99: number;
}

let given = 0;

/** An address that nothing in this run has had yet. */
export function freshAddress(): string {
  given += 1;
  return `10.${(given >> 16) & 255}.${(given >> 8) & 255}.${given & 255}`;
}

/**
 * POSTs sessions, each for an address of its own, as fast as the connections go.
 * @throws Error when an answer is no success
 */
export async function startSessions({ url, headers = {}, connections, amount }: Load): Promise<LoadOutcome> {
  const began = performance.now();
  let ended = began;
  const run = autocannon({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    connections,
    amount,
    requests: [
      { setupRequest: (request) => ({ ...request, body: JSON.stringify({ ipv4Address: freshAddress() }) }) },
    ],
  });
  // the run itself ends on a whole second
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
