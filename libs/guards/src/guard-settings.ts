import type { KeyObject } from 'node:crypto';

/** What the guards need from the application. Also the injection token. */
export abstract class GuardSettings {
  /** a KeyObject: with a string, each verification tries to read it as a public key first, forty times slower */
  abstract readonly jwtKey: KeyObject;
  abstract readonly accessTokenTtlSeconds: number;
  /** null when the text cannot be a key, so that no database is asked */
  abstract hashApiKey(plainText: string): string | null;
  /** the address to note as a key's last one */
  abstract callerAddressOf(request: object): string | null;
}
