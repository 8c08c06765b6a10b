import type { ServerMetadata } from 'openid-client';

/** One thing that sign-ins need of an issuer, for its administrator. */
export interface IssuerCheck {
  readonly name: string;
  readonly ok: boolean;
  /** a sentence about the issuer, from its verb on: `it signs …` */
  readonly message: string;
}

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** What is verified of what an issuer signs with; a document that names nothing means what every issuer has to have. */
export const algorithmsOf = ({
  id_token_signing_alg_values_supported: given = ['RS256'],
}: ServerMetadata): string[] => ALGORITHMS.filter((name) => given.includes(name));

/** What no sign-in can do without, by what an issuer publishes. */
export function demandsOn(metadata: ServerMetadata): IssuerCheck[] {
  const algorithms = algorithmsOf(metadata);
  const {
    response_types_supported: responseTypes,
    code_challenge_methods_supported: challenges,
    token_endpoint_auth_methods_supported: methods = ['client_secret_basic'],
  } = metadata;
  const takesCode = responseTypes?.includes('code') ?? true;
  const takesChallenge = challenges?.includes('S256') ?? true;
  const takesSecret = methods.includes('client_secret_basic') || methods.includes('client_secret_post');
  return [
    {
      name: 'signature',
      ok: algorithms.length > 0,
      message:
        algorithms.length > 0
          ? `it signs ID tokens with ${algorithms.join(', ')}`
          : `it signs ID tokens with none of ${ALGORITHMS.join(', ')}: choose a key for signatures there`,
    },
    {
      name: 'clientSecret',
      ok: takesSecret,
      message: takesSecret
        ? 'it takes client secrets'
        : 'it takes no client secret, only other proofs of a client',
    },
    {
      name: 'authorizationCode',
      ok: takesCode,
      message: takesCode ? 'it answers with authorization codes' : 'it answers with no authorization codes',
    },
    {
      name: 'pkce',
      ok: takesChallenge,
      message: takesChallenge
        ? 'it is sent an S256 challenge (PKCE)'
        : 'it does not name S256 among its challenge methods (PKCE), which is needed',
    },
  ];
}
