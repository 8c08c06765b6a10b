/** The document that an issuer publishes about itself (OpenID Connect Discovery 1.0). */
export interface IssuerConfiguration {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint: string;
  readonly response_types_supported: string[];
  readonly subject_types_supported: string[];
  readonly id_token_signing_alg_values_supported: string[];
  readonly claims_supported: string[];
}

/** @param issuer the issuer's URL */
export const issuerConfiguration = (issuer: string): IssuerConfiguration => ({
  issuer,
  jwks_uri: `${issuer}/jwks`,
  // required by the standard; there is no sign-in, tokens are made for exchanges with clouds only
  authorization_endpoint: 'urn:drawbridge:none',
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'],
});
