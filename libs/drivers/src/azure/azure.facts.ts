import type { CredentialTypes, FieldForm } from '../provider-facts';

const UUID: FieldForm = {
  pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  words: 'must look like 00000000-0000-4000-8000-000000000001',
};

export const AZURE_CREDENTIAL_TYPES: CredentialTypes = {
  SERVICE_PRINCIPAL: {
    required: ['tenantId', 'clientId', 'clientSecret', 'subscriptionId'],
    optional: [],
    forms: { tenantId: UUID, clientId: UUID, subscriptionId: UUID },
    hints: ['tenantId', 'clientId', 'subscriptionId'],
  },
};
