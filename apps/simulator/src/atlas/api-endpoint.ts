import { CloudError } from '../cloud-error';
import type { CallEffect } from '../faults/fault-script';
import { serveCall, type CallModifiers } from '../faults/serve-call';
import type { CloudAnswer, CloudRequest, NO_ANSWER, World } from '../provider';
import { readJson } from '../read-json';
import { SealedTokens } from '../sealed-tokens';
import { PROJECTS, type AccessLists, type Entry } from './access-lists';
import {
  FAULT_ERRORS,
  jsonAnswer,
  noProject,
  noRoute,
  render,
  renderOAuth,
  unauthorized,
} from './atlas-error';

export const ATLAS_PREFIX = '/atlas';
const CLIENT_ID = 'mdb_sa_id_simulated';
const CLIENT_SECRET = 'simulated-atlas-secret';
const TOKEN_SECONDS = 3600;

/** Effects of the operations, by their names in Atlas' API. */
export const EFFECTS = {
  requestToken: 'identity',
  listAccessListEntries: 'read',
  getAccessListStatus: 'read',
  createAccessListEntry: 'add',
  deleteAccessListEntry: 'remove',
} as const satisfies Readonly<Record<string, CallEffect>>;

type Operation = keyof typeof EFFECTS;

const ROUTES: readonly (readonly [method: string, path: RegExp, operation: Operation])[] = [
  ['POST', /^\/api\/oauth\/token$/, 'requestToken'],
  ['GET', /^\/api\/atlas\/v2\/groups\/([^/]+)\/accessList$/, 'listAccessListEntries'],
  ['POST', /^\/api\/atlas\/v2\/groups\/([^/]+)\/accessList$/, 'createAccessListEntry'],
  ['GET', /^\/api\/atlas\/v2\/groups\/([^/]+)\/accessList\/([^/]+)\/status$/, 'getAccessListStatus'],
  ['DELETE', /^\/api\/atlas\/v2\/groups\/([^/]+)\/accessList\/([^/]+)$/, 'deleteAccessListEntry'],
];

interface Route {
  readonly operation: Operation;
  readonly project: string;
  readonly entry: string;
}

/** The part of Atlas' administration API that concerns IP access lists. */
export class ApiEndpoint {
  private readonly tokens: SealedTokens<object>;

  constructor(
    private readonly world: World,
    private readonly lists: AccessLists,
  ) {
    this.tokens = new SealedTokens(world.clock, 'atlas');
  }

  revokeTokens(): void {
    this.tokens.revokeAll();
  }

  reset(): void {
    this.tokens.reset();
  }

  handle(request: CloudRequest): Promise<CloudAnswer | typeof NO_ANSWER> {
    const route = routeOf(request);
    const isToken = route?.operation === 'requestToken';
    const items = route?.operation === 'createAccessListEntry' ? entriesIn(request.body).length : 0;
    const call = {
      provider: 'ATLAS',
      operation: route?.operation ?? '(none)',
      effect: route ? EFFECTS[route.operation] : 'check',
      targets: route && !isToken ? [route.project] : [],
      items,
    } as const;
    return serveCall(this.world, request.epoch, call, {
      check: () => {
        if (!route) throw noRoute();
        if (isToken) return checkClient(request);
        const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
        if (this.tokens.read(token)?.isExpired !== false) throw unauthorized();
        if (!PROJECTS.includes(route.project)) throw noProject(route.project);
      },
      perform: (how) => this.perform(request, route!, how),
      refuse: (why) => FAULT_ERRORS[why](),
      render: isToken ? renderOAuth : render,
    });
  }

  private async perform(
    { body, query }: CloudRequest,
    { operation, project, entry }: Route,
    how: CallModifiers,
  ): Promise<CloudAnswer> {
    switch (operation) {
      case 'requestToken': {
        const token = this.tokens.issue({}, Date.now() + TOKEN_SECONDS * 1000);
        return jsonAnswer(200, { access_token: token, expires_in: TOKEN_SECONDS, token_type: 'Bearer' });
      }
      case 'listAccessListEntries':
        return jsonAnswer(200, page(project, this.lists.get(project, how.asOf), query));
      case 'getAccessListStatus': {
        const isActive = this.lists.find(project, entry).activeAt <= this.lists.now();
        return jsonAnswer(200, { STATUS: isActive ? 'ACTIVE' : 'PENDING' });
      }
      case 'createAccessListEntry':
        await this.lists.change(project, () => this.lists.add(project, entriesIn(body), how.firstHalf));
        return jsonAnswer(201, page(project, this.lists.get(project), query));
      case 'deleteAccessListEntry':
        await this.lists.change(project, () => this.lists.remove(project, entry));
        return jsonAnswer(204);
    }
  }
}

function routeOf({ method, path }: CloudRequest): Route | null {
  const below = path.slice(ATLAS_PREFIX.length);
  for (const [routeMethod, pattern, operation] of ROUTES) {
    const match = routeMethod === method ? pattern.exec(below) : null;
    if (match) return { operation, project: match[1] ?? '', entry: decodeURIComponent(match[2] ?? '') };
  }
  return null;
}

function checkClient({ headers, body }: CloudRequest): void {
  const expected = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;
  if (headers.authorization !== expected)
    throw new CloudError(401, 'invalid_client', 'Client authentication failed.');
  if (new URLSearchParams(body).get('grant_type') !== 'client_credentials')
    throw new CloudError(400, 'unsupported_grant_type', 'The grant type is not supported.');
}

/** The entries of a request; none when its body is no list. */
function entriesIn(body: string): unknown[] {
  const given = readJson(body);
  return Array.isArray(given) ? given.filter((one) => typeof one === 'object' && one !== null) : [];
}

function page(project: string, list: readonly Entry[], query: URLSearchParams): object {
  const size = Math.min(Number(query.get('itemsPerPage') ?? 100), 500);
  const from = (Number(query.get('pageNum') ?? 1) - 1) * size;
  const results = list.slice(from, from + size).map(({ cidr, comment, endsAt }) => ({
    groupId: project,
    cidrBlock: cidr,
    ...(/\/(32|128)$/.test(cidr) && { ipAddress: cidr.replace(/\/.*/, '') }),
    comment,
    ...(endsAt !== null && { deleteAfterDate: new Date(endsAt).toISOString() }),
    links: [],
  }));
  return { links: [], results, totalCount: list.length };
}
