import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import {
  replaced,
  requestShapes,
  textsIn,
  type RequestShape,
} from '../builders/contract/documented-requests';
import { organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';
import { SHAPES, type Shape } from '../hostile/shapes';

/** What a request's line and headers may be is 16 KiB, a body 100 kB: both leave room for the rest. */
const MAX_HEADER_LENGTH = 13_000;
const MAX_BODY_BYTES = 90_000;
/**
 * Of the API's processor, for one shape, sent as often as below. A request takes some milliseconds; with an expression that
 * is quadratic in a header it takes a tenth of a second, in a body most of one.
 */
const MAX_SECONDS = 0.3;
const TIMES = { header: 5, other: 1 };

/** The shapes that requests are tried with: a parser alone meets many more. */
const FRAMES = ['"", ', '"a", '];
/** What the values of a header begin with. */
const OWN_FRAMES: Readonly<Record<string, string>> = {
  Authorization: '"Bearer a", ',
  Forwarded: '"[", ',
  Origin: '"[", ',
  'X-Forwarded-For': '"[", ',
  'X-Forwarded-Host': '"[", ',
};
const RUNS_OF =
  /^"[^,]*", (blanks|slashes|dots|digits|letters|colons|commas|hyphens|quotes|open brackets|nested objects|percent signs|at signs|list entries|labels|wide letters|emoji joined),/;
const KNOWN = SHAPES.filter(({ name }) => RUNS_OF.test(name));
const ofFrames = (frames: readonly string[]): Shape[] =>
  KNOWN.filter(({ name }) => frames.some((frame) => name.startsWith(frame)));
const PRINTABLE = /^[\x20-\x7e]*$/;
const shapesOf = (header: string): Shape[] =>
  ofFrames([...FRAMES, ...(OWN_FRAMES[header] === undefined ? [] : [OWN_FRAMES[header]])]).filter(
    ({ text }) => PRINTABLE.test(text(64)),
  );
const IN_FIELDS = ofFrames(FRAMES.slice(0, 1));

const HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Access-Control-Request-Headers',
  'Authorization',
  'Content-Type',
  'Cookie',
  'Forwarded',
  'Idempotency-Key',
  'If-Modified-Since',
  'If-None-Match',
  'Origin',
  'Range',
  'Referer',
  'Stripe-Signature',
  'User-Agent',
  'X-API-Key',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Real-IP',
  'X-Request-Id',
];

/** of Linux, on every architecture */
const TICKS_PER_SECOND = 100;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: unknown;
}

describe('A request as large as it may be is handled in linear time', () => {
  const drawbridge = Drawbridge.own({ worker: false, api: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  let shapes: RequestShape[];
  let admin: OutgoingHttpHeaders;
  let host: OutgoingHttpHeaders;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  beforeAll(async () => {
    const org = await organization(drawbridge, []);
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    admin = { Authorization: `Bearer ${(org.admin.identity as { token: string }).token}` };
    host = { 'X-API-Key': ((await org.apiKey(['agent:connect'])).identity as { apiKey: string }).apiKey };
    shapes = await requestShapes(drawbridge.api);
  });
  afterAll(() => agent.destroy());

  function headersFor(template: string): OutgoingHttpHeaders {
    if (template.startsWith('/auth/')) return {};
    return template.startsWith('/agents/') ? host : admin;
  }

  /** Waits for the whole answer. */
  function send({ method, path, headers = {}, body }: Sent): Promise<void> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          agent,
          host: '127.0.0.1',
          port: drawbridge.apiServer.port,
          method,
          path: `/api/v1${path}`,
          headers: {
            ...(text === undefined
              ? {}
              : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (answer) => {
          answer.resume();
          answer.once('end', resolve);
          answer.once('error', reject);
        },
      );
      sent.once('error', reject);
      sent.end(text);
    });
  }

  /** The time that the API has used of processors, by the kernel's account. */
  const usedSeconds = (): number => {
    const stat = readFileSync(`/proc/${drawbridge.apiServer.pid}/stat`, 'utf8').replace(/^.*\) /, '');
    const [user, system] = stat.split(' ').slice(11);
    return (Number(user) + Number(system)) / TICKS_PER_SECOND;
  };

  /** The first shape that takes more than it may, twice: once the process may have compiled or collected, too. */
  async function steepShape(
    known: readonly Shape[],
    longest: number,
    times: number,
    sent: (text: string) => Sent,
  ): Promise<string | undefined> {
    const isSteep = async (request: Sent): Promise<boolean> => {
      const from = usedSeconds();
      for (let time = 0; time < times; time += 1) await send(request);
      return usedSeconds() - from > MAX_SECONDS;
    };
    for (const { name, text } of known) {
      const request = sent(text(longest));
      if ((await isSteep(request)) && (await isSteep(request))) return name;
    }
    return undefined;
  }

  it.each([...HEADERS.map((header) => [header, 'a signed-in person']), ['Authorization', 'an API key']])(
    'the header %s of %s',
    async (header, caller) => {
      expect(shapesOf(header).length).toBeGreaterThan(20);
      const known = caller === 'an API key' ? { 'X-API-Key': 'dbk_unknown' } : admin;
      const steep = await steepShape(shapesOf(header), MAX_HEADER_LENGTH, TIMES.header, (text) => ({
        method: 'POST',
        path: '/sessions',
        headers: { ...known, [header]: text },
        body: {},
      }));
      expect(steep).toBeUndefined();
    },
  );

  it('every parameter of every path and query', async () => {
    const steep: string[] = [];
    const places = shapes
      .filter(({ method, template }) => method === 'GET' && !template.includes('/agents/'))
      .flatMap(({ template, parameters }) =>
        parameters.filter((one) => one.in !== 'header').map((parameter) => ({ template, parameter })),
      );
    expect(places.length).toBeGreaterThan(50);
    for (const { template, parameter } of places) {
      const slow = await steepShape(IN_FIELDS, MAX_HEADER_LENGTH / 9, TIMES.other, (text) => {
        const value = encodeURIComponent(Buffer.from(text).toString());
        const isInPath = parameter.in === 'path';
        const path = template
          .replace(`{${parameter.name}}`, isInPath ? value : randomUUID())
          .replaceAll(/\{\w+\}/g, () => randomUUID());
        return {
          method: 'GET',
          path: isInPath ? path : `${path}?${parameter.name}=${value}`,
          headers: admin,
        };
      });
      if (slow) steep.push(`${template} ${parameter.name}, ${slow}`);
    }
    expect(steep).toEqual([]);
  });

  it('every text of every body', async () => {
    const steep: string[] = [];
    const places = shapes.flatMap(({ body, ...shape }) =>
      body ? textsIn(body).map((at) => ({ ...shape, at })) : [],
    );
    expect(places.length).toBeGreaterThan(80);
    for (const { name, method, template, example, at } of places) {
      const path = template.replaceAll(/\{\w+\}/g, () => randomUUID());
      const slow = await steepShape(IN_FIELDS, MAX_BODY_BYTES / 3, TIMES.other, (text) => ({
        method,
        path,
        headers: headersFor(template),
        body: replaced(example, at, text),
      }));
      if (slow) steep.push(`${name} ${at.join('.')}, ${slow}`);
    }
    expect(steep).toEqual([]);
  });
});
