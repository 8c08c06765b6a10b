import type { CredentialTypes } from '../provider-facts';

/** Google's key JSON. Its addresses, `token_uri` among them, are not taken over: they would say where the key is sent. */
export const GCP_CREDENTIAL_TYPES: CredentialTypes = {
  SERVICE_ACCOUNT: {
    required: ['type', 'project_id', 'private_key', 'client_email'],
    optional: ['private_key_id'],
    forms: {
      type: { pattern: /^service_account$/, words: 'must be service_account: no other kind of key is taken' },
      project_id: { pattern: /^[a-z0-9.:-]{1,100}$/, words: 'must be the id of a Google Cloud project' },
      private_key: {
        pattern: /^-----BEGIN (RSA )?PRIVATE KEY-----\n[\w+/=\s]+-----END (RSA )?PRIVATE KEY-----$/,
        words: 'must be a private key in PEM, as in the key file',
      },
      client_email: {
        pattern: /^[^\s@]{1,200}@[\w.-]{1,200}$/,
        words: 'must be the e-mail address of the service account',
      },
    },
    hints: ['project_id', 'client_email', 'private_key_id'],
  },
};
