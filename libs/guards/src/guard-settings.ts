import type { TokenKey } from './token-keys';

/** The guards' settings, provided by the application. Also the injection token. */
export abstract class GuardSettings {
  /** the first one signs, all verify, so that a new secret does not sign users out */
  abstract readonly tokenKeys: readonly [TokenKey, ...TokenKey[]];
  abstract readonly accessTokenTtlSeconds: number;
  /** null when the text cannot be a key, which saves the look-up */
  abstract hashApiKey(plainText: string): string | null;
  /** null when the text cannot be a session token, which saves the look-up */
  abstract hashSessionToken(plainText: string): string | null;
  /** the address to record for a key's use */
  abstract callerAddressOf(request: object): string | null;
}
