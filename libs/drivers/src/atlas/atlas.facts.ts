import { NATIVE_EXPIRIES } from '#rules';
import type { DriverTraits } from '../provider-driver';
import { USUAL, type ProviderFacts, type Revocation } from '../provider-facts';

export const PROJECT_ID = /^[0-9a-f]{24}$/;

/** Entries that a project may have. Atlas refuses more; verification warns before. */
export const MAX_ENTRIES = 200;

const TRAITS: DriverTraits = {
  // removals are a request each, one after the other
  batchSize: 50,
  writeBudget: { burst: 10, refillPerSecond: 0.5 },
  writeSpacing: { usualMs: 1000, burstMs: 3000, burstSize: 20 },
  callTimeoutMs: 10_000,
  nativeExpiry: NATIVE_EXPIRIES['PROJECT']!,
};

const REVOCATION: Revocation = {
  cutsConnections: 'depends',
  words:
    'Atlas documents that connections which are open when an entry goes may stay open for a variable time. New ones are refused.',
};

const POLICY = `The role of the service account in the project:
  Project Owner
It may change everything in the project: Atlas documents no smaller role for the IP access list.
Where the organization requires an API access list, add the address of this server to that of the service account.
`;

const VISIBLE = {
  pattern: /^[\x21-\x39\x3b-\x7e]+$/,
  words: 'must be visible ASCII characters without a colon',
};

export const ATLAS_FACTS: ProviderFacts = {
  provider: 'ATLAS',
  label: 'MongoDB Atlas',
  variables: ['ATLAS_URL'],
  credentialTypes: {
    SERVICE_ACCOUNT: {
      label: 'Service account',
      required: ['clientId', 'clientSecret'],
      optional: [],
      descriptions: {
        clientId: 'the client id of the service account, as the project shows it under Applications',
        clientSecret: 'its secret, which Atlas shows once',
      },
      forms: {
        clientId: { ...VISIBLE, example: 'mdb_sa_id_66f0c1d2e3a4b5c6d7e8f901' },
        clientSecret: { ...VISIBLE, example: 'mdb_sa_sk_XXXXXXXXXXXXXXXXXXXXXXXX' },
      },
      hints: ['clientId'],
    },
  },
  resourceTypes: {
    PROJECT: {
      label: 'Project',
      traits: TRAITS,
      ...USUAL,
      policy: POLICY,
      revocation: REVOCATION,
      identifier: {
        pattern: PROJECT_ID,
        example: '66f0c1d2e3a4b5c6d7e8f902',
        description: 'the id of the project: 24 hexadecimal digits, as its settings and its address show it',
      },
      portsPerRule: 'none',
      config: [],
      nameTarget: ({ identifier }) => ({ key: `ATLAS:PROJECT:${identifier}`, identifier }),
    },
  },
};
