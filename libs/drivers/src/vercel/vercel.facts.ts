import type { CredentialTypes } from '../provider-facts';

export const VERCEL_CREDENTIAL_TYPES: CredentialTypes = {
  TOKEN: {
    required: ['token'],
    optional: ['teamId'],
    forms: {
      token: { pattern: /^[\x21-\x7e]+$/, words: 'must be visible ASCII characters only' },
      teamId: { pattern: /^[\w-]{1,100}$/, words: 'must be the id of a Vercel team' },
    },
    hints: ['teamId'],
  },
};
