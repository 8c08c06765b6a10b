import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { requestShapes, type RequestShape } from '../builders/contract/documented-requests';
import { furnishedOrganization } from '../builders/console/furnished-organization';
import { KNOWN_ID, requestsTo, type GeneratedRequest } from '../builders/contract/generated-requests';
import { group } from '../builders/accounts/organization';
import { type Identity, unexpectedFailures } from '../harness/product/api-client';
import { publishedContract } from '../harness/contract/published-contract';
import { Drawbridge } from '../harness/product/drawbridge';
import type { OpenApiContract } from '../harness/contract/openapi-contract';
import { SEED } from '../harness/seed';

/** `REQUESTS=100000 npm test -- test/e2e/any-request` is the long run. */
const COUNT = Number(process.env['REQUESTS'] ?? 2000);
/** Requests change and delete what they meet: after so many there is a new organization to meet. */
const EACH_ORGANIZATION = 500;
const AT_ONCE = 8;
const SHOWN = 10;
const MAX_MS = 3_600_000;
const CALLERS = 9;

interface Generated {
  readonly shape: RequestShape;
  readonly request: GeneratedRequest;
}

interface Outcome {
  readonly status: number;
  /** what the answer has that no answer may have */
  readonly wrong: string | null;
}

interface World {
  readonly callers: readonly Identity[];
  readonly ids: readonly string[];
}

describe('Any request gets an answer that the OpenAPI document declares', () => {
  const drawbridge = Drawbridge.own({ worker: false });
  let base: string;
  let contract: OpenApiContract;
  let shapes: RequestShape[];

  beforeAll(async () => {
    base = `http://127.0.0.1:${drawbridge.apiServer.port}/api/v1`;
    contract = publishedContract();
    shapes = await requestShapes(drawbridge.api);
  });

  async function newWorld(index: number): Promise<World> {
    const org = await furnishedOrganization(
      drawbridge,
      { group: group(index % 10), config: { port: 22 } },
      '203.0.113.9',
    );
    await drawbridge.query(`UPDATE users SET platform_role = 'SUPER_ADMIN' WHERE id = $1`, [org.adminId]);
    const pipeline = await org.apiKey(['sessions:read', 'sessions:write', 'resources:read']);
    const host = await org.apiKey(['agent:connect']);
    const admin = org.admin.identity;
    return {
      callers: [
        admin,
        admin,
        admin,
        admin,
        pipeline.identity,
        host.identity,
        host.identity,
        null,
        { token: 'x.y.z' },
      ],
      ids: [
        org.sessionId,
        org.staticIpRuleId,
        org.apiKeyId,
        org.userId,
        org.credentialId,
        org.roleId,
        ...org.resourceIds,
        randomUUID(),
      ],
    };
  }

  const identified = (text: string, { ids }: World): string =>
    text.replaceAll(KNOWN_ID, (_, index: string) => ids[Number.parseInt(index, 16) % ids.length]!);

  async function send(request: GeneratedRequest, world: World): Promise<Outcome> {
    const { method, headers } = request;
    const path = identified(request.path, world);
    const body = request.body === undefined ? undefined : identified(request.body, world);
    const caller = world.callers[request.caller] ?? null;
    const proof: Record<string, string> = !caller
      ? {}
      : 'token' in caller
        ? { Authorization: `Bearer ${caller.token}` }
        : { 'X-API-Key': caller.apiKey };
    const response = await fetch(base + path, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...proof },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const { status } = response;
    const said = `${method} ${path}\n  ${JSON.stringify(headers)} as caller ${request.caller}\n  ${body?.slice(0, 500)}`;
    if (status >= 500) {
      const cause = unexpectedFailures(drawbridge.apiServer.output).at(-1);
      return { status, wrong: `${status} ${text.slice(0, 500)}\n  ${said}\n  ${cause}` };
    }
    try {
      const contentType = response.headers.get('content-type');
      contract.check({ method, path: new URL(base + path).pathname, status, contentType, text });
      return { status, wrong: null };
    } catch (error) {
      return { status, wrong: `${(error as Error).message}\n  ${said}` };
    }
  }

  /** Each operation gets the same share, one after the other. */
  function generated(count: number, seed: number): Generated[] {
    const share = Math.ceil(count / shapes.length);
    const known = shapes.map((shape, index) => ({
      shape,
      requests: fc.sample(requestsTo(shape, CALLERS), { numRuns: share, seed: seed + index }),
    }));
    return Array.from({ length: share }, (_, round) =>
      known.map(({ shape, requests }) => ({ shape, request: requests[round]! })),
    )
      .flat()
      .slice(0, count);
  }

  /** Sends them all, until too many have been answered wrongly. */
  async function play(queue: readonly Generated[], tell: (outcome: Outcome) => void): Promise<string[]> {
    const wrong: string[] = [];
    for (let done = 0; done < queue.length && wrong.length < SHOWN; done += EACH_ORGANIZATION) {
      const world = await newWorld(done / EACH_ORGANIZATION);
      const rest = queue.slice(done, done + EACH_ORGANIZATION).toReversed();
      const lane = async (): Promise<void> => {
        for (let next = rest.pop(); next && wrong.length < SHOWN; next = rest.pop()) {
          const outcome = await send(next.request, world);
          if (outcome.wrong !== null) wrong.push(outcome.wrong);
          tell(outcome);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    }
    return wrong;
  }

  it(
    `${COUNT} requests generated from it, seed ${SEED}`,
    async () => {
      const statuses = new Map<number, number>();
      const wrong = await play(generated(COUNT, SEED), ({ status }) =>
        statuses.set(status, (statuses.get(status) ?? 0) + 1),
      );
      const counted = [...statuses].toSorted(([one], [other]) => one - other);
      process.stderr.write(
        `\n${COUNT} generated requests: ${counted.map(([status, count]) => `${status} × ${count}`).join(', ')}\n`,
      );
      expect(wrong.join('\n\n')).toBe('');
      // requests that are all refused at the door would prove little
      const done = counted.filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
      expect(done).toBeGreaterThan(COUNT / 10);
    },
    MAX_MS,
  );
});
