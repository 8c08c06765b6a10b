import { DEFAULT_MAX_SILENCE_SECONDS } from '#rules';
import type { DriverTraits } from '../provider-driver';
import { TRAFFIC_FIELDS, USUAL, type ProviderFacts, type Revocation } from '../provider-facts';

const TRAITS: DriverTraits = {
  batchSize: 500,
  // an agent fetches the complete state in one request: there is no account with a call limit
  writeBudget: { burst: 1000, refillPerSecond: 1000 },
  writeSpacing: { usualMs: 0, burstMs: 0, burstSize: 1000 },
  callTimeoutMs: 5000,
};

const REVOCATION: Revocation = {
  cutsConnections: 'depends',
  words:
    'The agent turns away the packets of a connection whose access has ended; with --keep-established it leaves them alone.',
};

const POLICY = `On the host the agent needs the capability CAP_NET_ADMIN.
Here it needs an API key with one scope, agent:connect, bound to the host's name.
`;

/**
 * Hosts without a cloud firewall API. An agent on the host connects to the service and manages the host's firewall: it
 * fetches the desired rules and reports the observed ones. There is no driver.
 */
export const AGENT_FACTS: ProviderFacts = {
  provider: 'AGENT',
  label: 'Linux host',
  variables: [],
  credentialTypes: {
    // the agent authenticates with an API key of the organization: no credential is stored
    AGENT: {
      label: 'Agent, without a secret',
      required: [],
      optional: [],
      descriptions: {},
      forms: {},
      hints: [],
    },
  },
  resourceTypes: {
    HOST_FIREWALL: {
      label: 'Host',
      traits: TRAITS,
      ...USUAL,
      policy: POLICY,
      revocation: REVOCATION,
      identifier: {
        pattern: /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/i,
        example: 'db-host-1',
        description: 'the name of the agent on the host',
      },
      portsPerRule: 'many',
      config: [
        ...TRAFFIC_FIELDS,
        {
          name: 'maxSilenceSeconds',
          type: 'integer',
          description: `the host closes what is open after this long without an answer of Drawbridge (${DEFAULT_MAX_SILENCE_SECONDS} when left out; null: never for that reason)`,
          example: DEFAULT_MAX_SILENCE_SECONDS,
        },
      ],
      // host names are unique per organization
      nameTarget: ({ identifier, organization }) => {
        const name = identifier.toLowerCase();
        return { key: `AGENT:host:${organization}:${name}`, identifier: name };
      },
    },
  },
};
