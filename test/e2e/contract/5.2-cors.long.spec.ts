import { Drawbridge } from '../../harness/product/drawbridge';

const ALLOWED = 'https://app.example.com';
const STRANGE = 'https://elsewhere.example.com';

describe('5.2 Browsers of other origins', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let port: number;

  beforeAll(async () => {
    ({ port } = await drawbridge.startApi({ CORS_ORIGINS: `${ALLOWED},http://localhost:5173` }));
  });

  const ask = (method: string, origin: string, headers: Record<string, string> = {}, at = port) =>
    fetch(`http://127.0.0.1:${at}/api/v1/sessions`, { method, headers: { Origin: origin, ...headers } });
  const preflight = {
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization',
  };

  it('an allowed origin may ask before it calls', async () => {
    const { status, headers } = await ask('OPTIONS', ALLOWED, preflight);
    expect(status).toBe(204);
    expect(headers.get('Access-Control-Allow-Origin')).toBe(ALLOWED);
    expect(headers.get('Access-Control-Allow-Methods')).toContain('PATCH');
    expect(headers.get('Access-Control-Allow-Headers')).toBe('authorization');
    expect(headers.get('Vary')).toContain('Origin');
  });

  it('and reads answers, refusals among them, with the headers it needs', async () => {
    const { status, headers } = await ask('GET', ALLOWED);
    expect(status).toBe(401);
    expect(headers.get('Access-Control-Allow-Origin')).toBe(ALLOWED);
    const exposed = headers.get('Access-Control-Expose-Headers');
    for (const name of ['X-RateLimit-Remaining', 'Retry-After', 'X-Total-Count', 'Link']) {
      expect(exposed).toContain(name);
    }
  });

  it('another origin gets no CORS headers', async () => {
    for (const [method, headers] of [
      ['OPTIONS', preflight],
      ['GET', {}],
    ] as const) {
      expect((await ask(method, STRANGE, headers)).headers.get('Access-Control-Allow-Origin')).toBeNull();
    }
  });

  it('no origin gets CORS headers when none is configured', async () => {
    const answer = await ask('OPTIONS', ALLOWED, preflight, drawbridge.apiServer.port);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});
