import type { DriverTraits } from '../provider-driver';
import {
  USUAL,
  type ProviderFacts,
  type ResourceNaming,
  type Revocation,
  type TargetName,
} from '../provider-facts';

const PROJECT = 'prj_\\w{1,100}|Qm[1-9A-HJ-NP-Za-km-z]{44}';
const IS_PROJECT = new RegExp(`^(?:${PROJECT})$`);

/** The requests that a guard applies to: all of a project, or those to one host or path prefix. */
export interface GuardedPath {
  readonly projectId: string;
  /** null: every host of the project */
  readonly hostname: string | null;
  /** null: every path */
  readonly pathPrefix: string | null;
}

/** Parses an identifier from `nameTarget`. @returns null when it is malformed */
export function parseGuardedPath(identifier: string): GuardedPath | null {
  const [projectId = '', tail = ''] = identifier.split('?');
  if (!IS_PROJECT.test(projectId)) return null;
  const parts = new URLSearchParams(tail);
  return { projectId, hostname: parts.get('host'), pathPrefix: parts.get('path') };
}

/**
 * A target is a project and its guarded part. Host names are case-insensitive. Paths and ids are not normalized:
 * merging two different ones would leave one of them unguarded.
 */
function nameTarget({ identifier, config }: ResourceNaming): TargetName {
  const parts = new URLSearchParams();
  if (typeof config['hostname'] === 'string') parts.set('host', config['hostname'].toLowerCase());
  if (typeof config['pathPrefix'] === 'string' && config['pathPrefix'] !== '/')
    parts.set('path', config['pathPrefix']);
  const canonical = parts.size === 0 ? identifier : `${identifier}?${parts.toString()}`;
  return { key: `VERCEL:firewall-rule:${canonical}`, identifier: canonical };
}

const TRAITS: DriverTraits = {
  // Each write replaces the complete list: a large batch costs as much as a small one.
  batchSize: 500,
  // Vercel does not document rate limits of its firewall endpoints: well below those of other endpoints.
  writeBudget: { burst: 20, refillPerSecond: 1 },
  writeSpacing: { usualMs: 1000, burstMs: 3000, burstSize: 20 },
  wholeList: true,
  // A write needs three requests (read, write, read) of at most five seconds each.
  callTimeoutMs: 15_000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'no',
  words:
    'What is under way goes on: a response that is being streamed, a WebSocket that is open. The next request is denied.',
};

const POLICY = `A token of Vercel may do what the person it belongs to may do, in the scope it is made for.
Make it for the scope of one team, with a date of expiry, as a member of that team whose role allows:
  read    the project
  read    the firewall configuration of the project
  update  the firewall configuration of the project
`;

export const VERCEL_FACTS: ProviderFacts = {
  provider: 'VERCEL',
  label: 'Vercel',
  variables: ['VERCEL_API_URL'],
  credentialTypes: {
    TOKEN: {
      label: 'Access token',
      required: ['token'],
      optional: ['teamId'],
      descriptions: {
        token: 'an access token of a member who may change the firewall of the project',
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
          pattern: /^team_\w{1,100}$/,
          words:
            'must be the id of a Vercel team, which begins with team_: the settings of the team show it as Team ID. Its name in addresses (the slug) is not accepted',
          example: 'team_a1B2c3D4e5F6g7H8i9J0k1L2',
        },
      },
      hints: ['teamId'],
    },
  },
  resourceTypes: {
    FIREWALL_RULE: {
      label: 'Project',
      traits: TRAITS,
      ...USUAL,
      policy: POLICY,
      revocation: REVOCATION,
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
      nameTarget,
    },
  },
};
