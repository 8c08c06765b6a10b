export { CredentialOpener } from './credential-opener';
export { Identities, type CredentialIdentity } from './identities';
export { issuerConfiguration, type IssuerConfiguration } from './issuer-configuration';
export { IdentityKeyRotation, type Rotation } from './identity-key-rotation';
export { IdentityStores } from './identity-stores';
