/** The form of `DATABASE_URL`. */
export const POSTGRES_URL = /^postgres(ql)?:\/\/\S+$/;
export const POSTGRES_URL_MESSAGE =
  'the address of a PostgreSQL database, like postgres://user:password@host:5432/name';

/** The message for listen addresses, after "HOST must be". */
export const LISTEN_ADDRESS_MESSAGE =
  'the IP address to listen on, like 127.0.0.1 (this host only) or :: (every address)';

/**
 * The form of `OIDC_ISSUER_URL`: what AWS, GCP and Entra accept, a port and http on loopback for simulated clouds only.
 */
export const ISSUER_URL =
  /^(https:\/\/[a-z0-9.-]+(\/[\w.~-]+)*|http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?(\/[\w.~-]+)*)$/;
export const ISSUER_URL_MESSAGE =
  'an https address without port, query and slash at the end, like https://drawbridge.example.com/oidc';
/** In tokens, with an organization's id after it: AWS takes issuers of at most 255 characters. */
export const MAX_ISSUER_URL_LENGTH = 200;
