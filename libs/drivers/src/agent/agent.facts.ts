import type { CredentialTypes } from '../provider-facts';

/** The agent on the host proves itself with an API key of the organization: nothing is kept for it here. */
export const AGENT_CREDENTIAL_TYPES: CredentialTypes = {
  AGENT: { required: [], optional: [], forms: {}, hints: [] },
};
