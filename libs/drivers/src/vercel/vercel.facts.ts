import type { ResourceNaming, TargetName, ProviderFacts } from '../provider-facts';

const PROJECT = 'prj_\\w{1,100}|Qm[1-9A-HJ-NP-Za-km-z]{44}';
const IS_PROJECT = new RegExp(`^(?:${PROJECT})$`);

/** Whom a guard keeps out: requests to a project, or to one host or to paths of it. */
export interface GuardedPath {
  readonly projectId: string;
  /** null: every host of the project */
  readonly hostname: string | null;
  /** null: every path */
  readonly pathPrefix: string | null;
}

/** Reads what `place` made. @returns null when the text is nothing of the kind */
export function parseGuardedPath(identifier: string): GuardedPath | null {
  const [projectId = '', tail = ''] = identifier.split('?');
  if (!IS_PROJECT.test(projectId)) return null;
  const parts = new URLSearchParams(tail);
  return { projectId, hostname: parts.get('host'), pathPrefix: parts.get('path') };
}

/**
 * A project, and the part of it that is guarded. Host names are one whatever their case. Paths and ids are taken as
 * they are written: taking two for one would leave one of them unguarded.
 */
function place({ identifier, config }: ResourceNaming): TargetName {
  const parts = new URLSearchParams();
  if (typeof config['hostname'] === 'string') parts.set('host', config['hostname'].toLowerCase());
  if (typeof config['pathPrefix'] === 'string' && config['pathPrefix'] !== '/')
    parts.set('path', config['pathPrefix']);
  const placed = parts.size === 0 ? identifier : `${identifier}?${parts.toString()}`;
  return { key: `VERCEL:firewall-rule:${placed}`, identifier: placed };
}

export const VERCEL_FACTS: ProviderFacts = {
  provider: 'VERCEL',
  variables: ['VERCEL_API_URL'],
  traits: {
    // The list is written as a whole: a large batch costs as much as a small one.
    batchSize: 500,
    // Vercel does not document what its firewall endpoints take: well below what its other endpoints do.
    writeBudget: { burst: 20, refillPerSecond: 1 },
    writeSpacing: { usualMs: 1000, burstMs: 3000, burstSize: 20 },
    wholeList: true,
    // A write is three requests of at most five seconds: read, write, read again.
    callTimeoutMs: 15_000,
  },
  credentialTypes: {
    TOKEN: {
      required: ['token'],
      optional: ['teamId'],
      descriptions: {
        token: 'an access token of somebody who may change the firewall of the project',
        teamId:
          'the id of the team that the project belongs to; without it, it is the own account of the person',
      },
      forms: {
        token: {
          pattern: /^[\x21-\x7e]+$/,
          words: 'must be visible ASCII characters only',
          example: 'XXXXXXXXXXXXXXXXXXXXXXXX',
        },
        teamId: {
          pattern: /^[\w-]{1,100}$/,
          words: 'must be the id of a Vercel team',
          example: 'team_a1B2c3D4e5F6g7H8i9J0k1L2',
        },
      },
      hints: ['teamId'],
    },
  },
  resourceTypes: {
    FIREWALL_RULE: {
      identifier: {
        pattern: IS_PROJECT,
        example: 'prj_XLKmu1DyR1eY7zq8UgeRKbA7yVLA',
        description: 'the id of the project, as its settings show it',
      },
      portsPerRule: 'none',
      config: [
        {
          name: 'hostname',
          type: 'text',
          description: 'guards requests to this host only',
          example: 'admin.example.com',
        },
        {
          name: 'pathPrefix',
          type: 'text',
          description: 'guards paths that begin with this only',
          example: '/admin',
        },
      ],
      place,
    },
  },
  region: null,
  revocation: {
    cutsConnections: 'no',
    words:
      'What is under way goes on: a response that is being streamed, a WebSocket that is open. The next request is denied.',
  },
  policy: `A token of Vercel may do what the person it belongs to may do, in the scope it is made for.
Make it for the scope of one team, with a date of expiry, as a member of that team whose role allows:
  read    the project
  read    the firewall configuration of the project
  update  the firewall configuration of the project
`,
};
