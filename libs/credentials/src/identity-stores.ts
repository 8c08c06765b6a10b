import { IdentityKeyStore } from './identity-key.store';
import { SignatureStore } from './signature.store';

/** What this deployment reads and writes as an issuer. */
export class IdentityStores {
  readonly keys = new IdentityKeyStore();
  readonly signatures = new SignatureStore();
}
