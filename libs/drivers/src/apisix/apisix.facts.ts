import type { CredentialTypes } from '../provider-facts';

export const APISIX_CREDENTIAL_TYPES: CredentialTypes = {
  ADMIN_KEY: {
    required: ['adminUrl', 'adminKey'],
    optional: [],
    forms: {
      adminUrl: {
        // no user, query or fragment: they would carry secrets into a hint
        pattern: /^https?:\/\/([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?(\/[\w./~-]*)?$/i,
        words: 'must be an http or https address without user, query or fragment',
      },
      adminKey: { pattern: /^[\x21-\x7e]+$/, words: 'must be visible ASCII characters only' },
    },
    hints: ['adminUrl'],
  },
};
