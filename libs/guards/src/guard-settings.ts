import type { TokenKey } from './token-keys';

/** What the guards need from the application. Also the injection token. */
export abstract class GuardSettings {
  /** the first signs, all verify: with the ones before, nobody is signed out by a new secret */
  abstract readonly tokenKeys: readonly [TokenKey, ...TokenKey[]];
  abstract readonly accessTokenTtlSeconds: number;
  /** null when the text cannot be a key, so that no database is asked */
  abstract hashApiKey(plainText: string): string | null;
  /** the address to note as a key's last one */
  abstract callerAddressOf(request: object): string | null;
}
